import { nearestName } from '../../../core/cells/nearestName.ts';
import { type DomainError, notFound } from '../../../core/errors.ts';

export function noSheet(sheet: string, sheets: string[]): DomainError {
  const near = nearestName(sheet, sheets);
  return notFound('sheet in the file', near ? `Did you mean ${near}?` : `Its sheets are: ${sheets.slice(0, 20).join(', ')}.`);
}
