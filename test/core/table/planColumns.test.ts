import { describe, expect, it } from 'vitest';
import { findColumn } from '../../../core/table/findColumn.ts';
import { checkNewColumns, planAddColumn, planDropColumn, planRenameColumn } from '../../../core/table/planColumns.ts';
import type { ColumnRecord } from '../../../core/table/table.ts';
import { makeAt, makeColumn } from './makeTable.ts';

const name = makeColumn(1, 'name');
const amount = makeColumn(2, 'amount', 'BIGINT');
const at = makeAt({ columns: [name, amount], table: { nextColumnId: 7 } });

it('a column is found whatever the case', () => {
  expect(findColumn(at.columns, 'AMOUNT')).toBe(amount);
  expect(findColumn(at.columns, 'other')).toBeNull();
});

const badNames = [
  ['a blank name', ' ', { kind: 'bad-name', why: 'must not be blank' }],
  ['dots', '..', { kind: 'bad-name', why: 'cannot stand in an address' }],
  ['the name of the row id', '__SVC_row_id', { kind: 'bad-name', why: 'is the name of the row identifier' }],
  ['a name with a blank at its end', 'x\u3000', { kind: 'bad-name', why: 'begins or ends with a blank' }],
  ['a name that is taken', 'Name', { kind: 'name-taken', name: 'Name' }],
] as const;

describe('adding a column', () => {
  const add = (wanted: string, given?: unknown, table = at) =>
    planAddColumn(table, { name: wanted, type: { kind: 'BIGINT' }, default: given });

  it('takes the next id and has its default as text', () => {
    expect(add('tax', '007')).toMatchObject({
      kind: 'planned',
      column: { id: 7, name: 'tax', type: 'BIGINT', defaultText: '7' },
      plan: { kind: 'column.add', schemaChanged: true, entries: [], detail: { column_id: 7 } },
    });
    expect(add('tax')).toMatchObject({ column: { defaultText: null } });
  });

  it.each(badNames)('refuses %s', (_, wanted, refusal) => {
    expect(add(wanted)).toEqual(refusal);
  });

  it('refuses a default of another type or a very long one, and one column more than a sheet has', () => {
    expect(add('tax', 'x')).toEqual({ kind: 'bad-default', why: 'must be a whole number' });
    const long = { name: 'note', type: { kind: 'VARCHAR' } as const, default: 'x'.repeat(32_768) };
    expect(planAddColumn(makeAt({}), long)).toEqual({ kind: 'bad-default', why: 'has more than 32767 characters' });
    const full: ColumnRecord[] = Array.from({ length: 16_384 }, (_, i) => makeColumn(i + 1));
    expect(add('tax', null, makeAt({ columns: full }))).toEqual({ kind: 'too-many', most: 16_384 });
  });
});

describe('renaming a column', () => {
  it('keeps what it was called; it may take another case of its own name', () => {
    expect(planRenameColumn(at, amount, 'Amount')).toMatchObject({
      kind: 'planned',
      name: 'Amount',
      plan: { kind: 'column.rename', detail: { column_id: expect.any(Number) } },
    });
  });

  it.each(badNames)('refuses %s', (_, wanted, refusal) => {
    expect(planRenameColumn(at, amount, wanted)).toEqual(refusal);
  });
});

it('the last column stays', () => {
  expect(planDropColumn(at, name)).toMatchObject({ kind: 'planned', plan: { kind: 'column.drop', detail: { column_id: 1 } } });
  expect(planDropColumn(makeAt({ columns: [name] }), name)).toEqual({ kind: 'last-column' });
});

describe('columns of a new table', () => {
  it('are kept with the one name of their types', () => {
    expect(checkNewColumns([{ name: 'a' }, { name: 'b', type: 'int' }])).toEqual({
      kind: 'checked',
      columns: [
        { name: 'a', type: 'VARCHAR' },
        { name: 'b', type: 'BIGINT' },
      ],
    });
  });

  it('everything that is wrong is said', () => {
    const wanted = [{ name: '' }, { name: '.' }, { name: '__svc_row_id' }, { name: 'a' }, { name: 'A', type: 'BLOB' }];
    expect(checkNewColumns(wanted)).toMatchObject({
      kind: 'faulty',
      faults: [
        { column: 0, member: 'name', why: 'must not be blank' },
        { column: 1, member: 'name', why: 'cannot stand in an address' },
        { column: 2, member: 'name', why: 'is the name of the row identifier' },
        { column: 4, member: 'name', why: 'stands there twice (case does not count)' },
        { column: 4, member: 'type', why: expect.stringContaining('is not one of VARCHAR, ') },
      ],
    });
  });
});
