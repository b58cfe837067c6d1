import { createHash } from 'node:crypto';
import type { Principal } from '../../core/access/principal.ts';
import { isId } from '../../core/ids/ids.ts';
import type { TableAt } from '../../core/table/table.ts';
import { findQueryStart } from '../../store/pg/queryStart.ts';
import { listLastResults, type ResultRecord } from '../../store/pg/results.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { askerOf } from '../access.ts';
import { listNamesIn } from './namedTables.ts';

/** What a query will need of the database. */
export interface Ahead {
  /** Identifies what is asked, whatever the tables hold. */
  askedKey: string;
  /** Null: was not asked for. */
  workbook: Promise<VisibleWorkbook | null> | null;
  /** The tables that it names; null: cannot be told. */
  tables: Promise<TableAt[]> | null;
  /** The results that the same question had last, if they are there. */
  last: Promise<ResultRecord[]>;
}

/** Asks at once for what most queries need. Nothing of it is to be used before the caller's rights to the workbook are known. */
export function lookAhead(
  services: Services,
  principal: Principal,
  workbookId: string,
  { sql, params, at }: { sql: string; params: unknown; at: string | null },
): Ahead {
  const askedKey = createHash('sha256')
    .update(JSON.stringify([principal.userId, workbookId, sql, params, at]))
    .digest('base64url');
  const names = at === null && isId(workbookId, 'wb') ? listNamesIn(sql) : null;
  if (names === null) return { askedKey, workbook: null, tables: null, last: quiet(listLastResults(services.db.listInAccounts, askedKey)) };
  const start = findQueryStart(services.db, { workbookId, ...askerOf(principal), names, askedKey });
  return {
    askedKey,
    workbook: quiet(start.then(({ workbook }) => workbook)),
    tables: quiet(start.then(({ tables }) => tables)),
    last: quiet(start.then(({ last }) => last)),
  };
}

/** Whoever needs it hears of a failure; who is refused before needs none of it. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
