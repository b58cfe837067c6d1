import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { DomainError } from '../../core/errors.ts';
import { type ColumnRefusal, unknownType } from '../../core/table/planColumns.ts';

function refuseMember(pointer: string, why: string, suggestedFix: string): DomainError {
  return new DomainError('validation-failed', `${pointer}: ${why}.`, suggestedFix, { errors: [{ pointer, detail: why }] });
}

export function requireColumnType(text: string): ColumnType {
  const type = parseColumnType(text);
  if (type) return type;
  throw refuseMember('/type', unknownType, 'Choose a type from the list.');
}

/** Turns a refusal into a problem; `pointer` is the place of the name in the request. */
export function describeColumnRefusal(refusal: ColumnRefusal, pointer: string): DomainError {
  switch (refusal.kind) {
    case 'bad-name':
      return refuseMember(pointer, refusal.why, 'Choose another name.');
    case 'name-taken':
      return new DomainError(
        'name-taken',
        `The table has a column named ${refusal.name} already (case does not count).`,
        'Choose another name, or rename that column.',
      );
    case 'too-many':
      return new DomainError('validation-failed', `A table has at most ${refusal.most} columns.`, 'Drop a column first.');
    case 'bad-default':
      return refuseMember('/default', refusal.why, "Give a default that fits the column's type.");
    case 'last-column':
      return new DomainError('in-use', 'The last column of a table cannot be dropped.', 'Add another column first, or delete the table.');
  }
}
