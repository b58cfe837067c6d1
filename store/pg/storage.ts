import type { Plan } from '../../core/credits/priceList.ts';
import type { StorageUse } from '../../core/storage/use.ts';
import type { Database } from './database.ts';
import { defineLookup } from './lookups.ts';

type Stored = Omit<StorageUse, 'limit'> & { plan: Plan; tableCount: number };

const stored = defineLookup<Stored>(
  'stored_bytes',
  `SELECT a.plan, made.tables, made."tableCount",
           (SELECT coalesce(sum(s.size), 0)::float8 FROM sources s JOIN workbooks w ON w.id = s.workbook_id AND w.account_id = a.id
            WHERE s.account_id = a.id AND w.deleted_at IS NULL)
           + (SELECT coalesce(sum(v.size), 0)::float8 FROM (
                SELECT DISTINCT v.blob_key, v.size FROM file_link_versions v JOIN file_links l ON l.id = v.link_id
                JOIN workbooks w ON w.id = l.workbook_id AND w.account_id = a.id JOIN sources s ON s.id = l.source_id
                WHERE v.account_id = a.id AND w.deleted_at IS NULL AND v.blob_key <> s.blob_key) v) AS sources,
           kept.results, kept."resultCount"
         FROM (SELECT id, plan FROM accounts WHERE id = k.a LIMIT 1) AS a
         CROSS JOIN LATERAL (
           SELECT coalesce(sum(t.file_bytes + t.tail_bytes), 0)::float8 AS tables, count(*)::int AS "tableCount"
           FROM tables t JOIN workbooks w ON w.id = t.workbook_id AND w.account_id = a.id
           WHERE t.account_id = a.id AND t.deleted_at IS NULL AND w.deleted_at IS NULL) AS made
         CROSS JOIN LATERAL (
           SELECT coalesce(sum(r.bytes), 0)::float8 AS results, count(*)::int AS "resultCount"
           FROM results r WHERE r.account_id = a.id AND r.expires_at > now()) AS kept`,
);

/** Adds up the sizes that the catalog has of everything, so it is right whatever was deleted, compacted or interrupted before. */
export async function findStored(db: Database, accountId: string): Promise<Stored> {
  const found = await db.lookUp(stored, accountId);
  if (!found) throw new Error(`no account ${accountId}`);
  return found;
}
