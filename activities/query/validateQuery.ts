import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { Validation } from '../../store/duckdb/sandbox/sandbox.ts';
import { listCurrentTables } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { columnEffects } from '../governance/columnEffects.ts';

/** A dry run against the columns that the caller may see; nothing is read. What would be refused is told, not thrown. */
export async function validateQuery(
  services: Services,
  principal: Principal,
  workbook: VisibleWorkbook,
  wanted: { sql: string; params: unknown[] | Record<string, unknown> | null },
): Promise<Validation> {
  const sandbox = await services.sandbox();
  const tables = await listCurrentTables(services.db.pool, workbook.id, null);
  const relations = await Promise.all(
    tables.map(async (at) => {
      const effects = await columnEffects(services, principal, at);
      const visible = at.columns.filter((column) => effects.get(column.id) !== 'deny');
      return {
        name: at.table.name,
        columns: [
          ...visible.map(({ name, type, id }) => ({ name, type, masked: effects.get(id) === 'mask' })),
          { name: '__svc_row_id', type: 'BIGINT', masked: false },
        ],
      };
    }),
  );
  try {
    return await sandbox.validate({
      accountId: workbook.accountId,
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
