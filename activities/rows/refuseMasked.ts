import { DomainError } from '../../core/errors.ts';
import type { ColumnRecord } from '../../core/table/table.ts';

export function refuseMasked(column: ColumnRecord, suggestedFix: string): DomainError {
  return new DomainError('insufficient-role', `The column ${column.name} is masked for you and cannot be written.`, suggestedFix);
}
