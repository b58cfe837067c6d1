import { describe, expect, it } from 'vitest';
import { planRowEdit } from '../../../core/table/edit.ts';
import { appendFile, countNewRows, isLargeEdit, numberEdit } from '../../../core/table/largeEdit.ts';
import type { LogEntry } from '../../../core/table/log.ts';
import { makeAt } from './makeTable.ts';

const insert = (rowId: number, text = 'a'): LogEntry => ({ rowId, op: 'I', changed: [1], cells: { '1': text }, before: null });
const update = (rowId: number, text = 'a', before = 'b'): LogEntry => ({
  rowId,
  op: 'U',
  changed: [1],
  cells: { '1': text },
  before: { '1': before },
});
const many = (count: number, text?: string) => Array.from({ length: count }, (_, i) => insert(-i - 1, text));

describe('an edit is large', () => {
  it.each([
    ['not with a thousand rows', many(1000), false],
    ['with more', many(1001), true],
    ['not with a megabyte', many(100, 'x'.repeat(10_000)), false],
    ['with more bytes', many(101, 'x'.repeat(10_000)), true],
    ['with long rows, however few', [insert(-1, 'x'.repeat(16_385))], true],
    ['with what it keeps of before', [update(1, 'x'.repeat(10_000), 'y'.repeat(10_000))], true],
    ['not when it is empty', [], false],
  ] as [string, LogEntry[], boolean][])('%s', (_, entries, expected) => {
    expect(isLargeEdit(entries)).toBe(expected);
  });
});

const edit = (entries: LogEntry[]) => ({
  at: makeAt({ editVersion: 7 }),
  plan: planRowEdit('rows.upsert', entries),
  rowIds: entries.map(({ rowId }) => rowId),
});
const written = { key: 'k', bytes: 12 };

describe('an edit that becomes a file', () => {
  it('of new rows alone is a segment over their ids', () => {
    const entries = [insert(-1), insert(-2), insert(-3)];
    expect(countNewRows(entries)).toBe(3);
    const file = numberEdit(edit(entries), 50);
    expect(file.entries.map(({ rowId }) => rowId)).toEqual([50, 51, 52]);
    const { plan, rowIds } = appendFile(file, written);
    expect(rowIds).toEqual([50, 51, 52]);
    expect(plan).toMatchObject({ inserted: 3, entries: [] });
    const span = { rows: 3, minRow: 50, maxRow: 52, ...written };
    expect(plan.appended).toEqual({ layer: { kind: 'segment', ...span }, file: { kind: 'insert', ...span } });
  });

  it('of other rows is a delta, in the order of ids', () => {
    const file = numberEdit(edit([insert(-1), update(9), update(2)]), 50);
    expect(file.entries.map(({ rowId }) => rowId)).toEqual([2, 9, 50]);
    const { plan, rowIds } = appendFile(file, written);
    expect(rowIds).toEqual([50, 9, 2]);
    expect(plan.appended).toEqual({
      layer: { kind: 'delta', rows: 3, after: 7, upTo: 8, ...written },
      file: { kind: 'delta', rows: 3, minRow: 2, maxRow: 50, ...written },
    });
  });

  it('of a row that comes back under its old id is a delta', () => {
    expect(numberEdit(edit([insert(4)]), 0).kind).toBe('delta');
  });
});
