import { createHash } from 'node:crypto';
import { isId } from '../../core/ids/ids.ts';
import type { TableAt } from '../../core/table/table.ts';
import { findSameResult, type ResultRecord } from '../../store/pg/results.ts';
import type { Services } from '../../store/services.ts';
import { listTablesNamedIn } from './namedTables.ts';

/** What a query will need of the database. */
export interface Ahead {
  /** Identifies what is asked, whatever the tables hold. */
  asked: string;
  /** The tables that it names; null: cannot be told. */
  tables: Promise<TableAt[]> | null;
  /** The result that the same question had last, if it is there. It is the answer only if its key is still the right one. */
  kept: Promise<ResultRecord | null>;
}

/**
 * Asks for what most queries need while the caller's rights are looked up, which saves two round trips one after the other. It is
 * not to be used before those rights are known.
 */
export function lookAhead(
  services: Services,
  userId: string,
  workbookId: string,
  { sql, params, at }: { sql: string; params: unknown; at: string | null },
): Ahead {
  const asked = createHash('sha256')
    .update(JSON.stringify([userId, workbookId, sql, params, at]))
    .digest('base64url');
  const isCurrent = at === null && isId(workbookId, 'wb');
  const key = isCurrent && services.answerKeys.get(asked);
  const ahead: Ahead = {
    asked,
    tables: isCurrent ? listTablesNamedIn(services, workbookId, sql) : null,
    kept: key ? findSameResult(services.db.lookUpInAccounts, key) : Promise.resolve(null),
  };
  // Whoever needs them hears of failures; who is refused before needs none of it.
  for (const promise of [ahead.tables, ahead.kept]) promise?.catch(() => {});
  return ahead;
}
