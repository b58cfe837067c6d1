import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { rowIdField, type VisibleTable } from '../../core/table/visibleTable.ts';
import type { Validation } from '../../store/duckdb/sandbox/sandbox.ts';
import { listCurrentTables } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { rememberVisible } from '../tables/openVisibleTable.ts';
import { findNamedTables } from './namedTables.ts';

interface QueryText {
  sql: string;
  params: unknown[] | Record<string, unknown> | null;
}

/** Checks a query against the columns the caller may see, without reading rows. Returns refusals instead of throwing them. */
export async function validateQuery(
  services: Services,
  principal: Principal,
  workbook: VisibleWorkbook,
  wanted: QueryText,
): Promise<Validation> {
  const see = rememberVisible(services, principal);
  const named = await findNamedTables(services, workbook.id, wanted.sql);
  const validation = named && (await validateOver(services, principal, wanted, await Promise.all(named.map(see))));
  // To suggest the nearest name for an unknown one, all tables are needed.
  if (validation?.valid) return validation;
  const all = await listCurrentTables(services.db.pool, workbook.id, null);
  return validateOver(services, principal, wanted, await Promise.all(all.map(see)));
}

async function validateOver(services: Services, { userId }: Principal, wanted: QueryText, tables: VisibleTable[]): Promise<Validation> {
  const sandbox = await services.sandbox();
  const relations = tables.map(({ at, columns }) => ({ name: at.table.name, columns: [...columns, rowIdField] }));
  try {
    return await sandbox.validate({
      userId,
      sql: wanted.sql,
      ...(wanted.params === null ? {} : { params: wanted.params as never }),
      relations,
    });
  } catch (error) {
    if (error instanceof DomainError && error.status === 400)
      return { valid: false, errors: [{ message: error.detail, line: null, column: null }], columns: [] };
    throw error;
  }
}
