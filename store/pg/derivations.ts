import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Derivation } from '../../core/lineage/consistent.ts';
import { derivations } from '../../schema/index.ts';
import type { Tx } from './commit.ts';

/** Remembers what a version of a table was made from. A later run that gives the same version replaces it. */
export async function saveDerivation(
  tx: Tx,
  table: { id: string; accountId: string },
  editVersion: number,
  { transformId, revision, inputs }: Derivation,
): Promise<void> {
  await tx.orm
    .insert(derivations)
    .values({ tableId: table.id, accountId: table.accountId, editVersion, transformId, revision, inputs })
    .onConflictDoUpdate({
      target: [derivations.tableId, derivations.editVersion],
      set: { transformId: sql`excluded.transform_id`, revision: sql`excluded.revision`, inputs: sql`excluded.inputs` },
    });
}

/** What versions of tables were made from, by table id. Versions that edits have made have what the run before them had. */
export async function listDerivations(
  pool: pg.Pool | pg.PoolClient,
  wanted: { tableId: string; editVersion: number }[],
): Promise<Map<string, Derivation>> {
  const { rows } = await pool.query<Derivation & { tableId: string }>(
    `SELECT k.table_id AS "tableId", d.* FROM unnest($1::text[], $2::bigint[]) AS k(table_id, edit_version)
     CROSS JOIN LATERAL (SELECT transform_id AS "transformId", revision, inputs FROM derivations
       WHERE table_id = k.table_id AND edit_version <= k.edit_version ORDER BY edit_version DESC LIMIT 1) AS d`,
    [wanted.map(({ tableId }) => tableId), wanted.map(({ editVersion }) => editVersion)],
  );
  return new Map(rows.map(({ tableId, ...derivation }) => [tableId, derivation]));
}
