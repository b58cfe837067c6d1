import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { TableAt } from '../../core/table/table.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import type { Validation } from '../../store/duckdb/sandbox/sandbox.ts';
import { listCurrentTables } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { rememberVisible } from '../tables/openVisibleTable.ts';
import { openNamedTables } from './namedTables.ts';

interface QueryText {
  sql: string;
  params: unknown[] | Record<string, unknown> | null;
  /** Ends the check when nobody waits for it any more. */
  signal?: AbortSignal;
}

/** For all that is done with the query: binding may take long, too. */
const timeoutMs = 5_000;

/** Checks a query against the columns the caller may see, without reading rows. Returns refusals instead of throwing them. */
export async function validateQuery(
  services: Services,
  principal: Principal,
  workbook: VisibleWorkbook,
  wanted: QueryText,
): Promise<Validation> {
  let deadlineMs = Date.now() + timeoutMs;
  const see = rememberVisible(services, principal);
  const validateOver = async (tables: TableAt[]) => {
    const seen = await Promise.all(tables.map(see));
    return (await services.sandbox()).validate({
      userId: principal.userId,
      sql: wanted.sql,
      ...(wanted.params === null ? {} : { params: wanted.params as never }),
      ...(wanted.signal ? { signal: wanted.signal } : {}),
      relations: seen.map(({ at, columns }) => ({ name: at.table.name, columns: [...columns, rowIdField] })),
      timeoutMs: Math.max(1, deadlineMs - Date.now()),
    });
  };
  try {
    const named = await openNamedTables(services, workbook.id, { sql: wanted.sql, userId: principal.userId });
    // Views that had to be made do not take the time for the rest.
    deadlineMs = Date.now() + timeoutMs;
    const validation = named && (await validateOver(named));
    // To suggest the nearest name for an unknown one, all tables are needed.
    return validation?.valid ? validation : await validateOver(await listCurrentTables(services.db.pool, workbook.id, null));
  } catch (error) {
    if (error instanceof DomainError && error.status === 400)
      return { valid: false, errors: [{ message: error.detail, line: null, column: null }], columns: [] };
    throw error;
  }
}
