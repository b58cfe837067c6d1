import type { components } from '../../schema/contract.ts';
import type { ResultRecord } from '../../store/pg/results.ts';
import { encodeNames } from './formats.ts';

/** A result without its rows, which are written as text beside it. */
export function presentResultHead(
  result: ResultRecord,
  page: { limit: number; offset: number },
): Omit<components['schemas']['QueryResult'], 'rows'> {
  const next = page.offset + page.limit;
  return {
    id: result.id,
    columns: result.columns,
    row_count: result.rowCount,
    next_offset: next < result.rowCount ? next : null,
    masked_columns: result.maskedColumns,
    tables: result.tables.map(({ name, edit_version }) => ({ name, edit_version })),
    expires_at: result.expiresAt.toISOString(),
    elapsed_ms: result.elapsedMs,
  };
}

/** The head of a result, for formats that have no place for it in the body. */
export function presentResultHeaders(result: ResultRecord): Record<string, string> {
  return {
    'X-SVC-Result-Id': result.id,
    'X-SVC-Row-Count': String(result.rowCount),
    'X-SVC-Masked-Columns': encodeNames(result.maskedColumns),
  };
}
