import { describe, expect, it } from 'vitest';
import {
  chooseColumns,
  countFixedRows,
  findReferred,
  listTableRefs,
  type StoredBlock,
  type TableView,
} from '../../../core/sheets/blocks.ts';

const view = (fields: Partial<TableView> = {}): TableView => ({
  kind: 'table_view',
  table: { id: 't1', name: '売上' },
  columns: null,
  limit: null,
  title: null,
  ...fields,
});
const tables = (...names: [id: string, name: string][]) => names.map(([id, name]) => ({ table: { id, name } }));

describe('the table of a block', () => {
  it.each([
    ['the same, under its name', tables(['t1', '売上']), 't1'],
    ['the same, under another name', tables(['t1', '売上2024']), 't1'],
    ['the same, although another has its name now', tables(['t2', '売上'], ['t1', '売上2024']), 't1'],
    ['one that took its name', tables(['t2', '売上'], ['t3', '経費']), 't2'],
    ['none', tables(['t3', '経費']), undefined],
  ])('is %s', (_, active, found) => {
    expect(findReferred(active, { id: 't1', name: '売上' })?.table.id).toBe(found);
  });

  it('is found whatever the case of its name', () => {
    expect(findReferred(tables(['t2', 'SALES']), { id: 't1', name: 'Sales' })?.table.id).toBe('t2');
  });

  it('is listed once', () => {
    const blocks: StoredBlock[] = [view(), { kind: 'text', text: 'x' }, view({ limit: 1 }), view({ table: { id: 't2', name: '経費' } })];
    expect(listTableRefs(blocks).map(({ id }) => id)).toEqual(['t1', 't2']);
  });
});

describe('the columns of a block', () => {
  const columns = [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
    { id: 3, name: 'c' },
  ];
  const wanted = (...refs: [id: number, name: string][]) => view({ columns: refs.map(([id, name]) => ({ id, name })) });
  it.each([
    ['all, if none are named', view(), 't1', ['a', 'b', 'c']],
    ['in the order of the block', wanted([3, 'c'], [1, 'a']), 't1', ['c', 'a']],
    ['renamed ones', wanted([2, 'old']), 't1', ['b']],
    ['without those that are gone', wanted([9, 'gone'], [2, 'b']), 't1', ['b']],
    ['again there under the name of one that was dropped', wanted([9, 'c']), 't1', ['c']],
    ['by name in another table', wanted([1, 'B'], [2, 'x']), 't2', ['b']],
    ['each once', wanted([2, 'b'], [9, 'b']), 't1', ['b']],
  ])('are %s', (_, block, tableId, names) => {
    expect(chooseColumns(block, tableId, columns).map(({ name }) => name)).toEqual(names);
  });
});

describe('the rows of a block', () => {
  it.each<[StoredBlock, number]>([
    [{ kind: 'heading', text: '見出し', level: 1 }, 1],
    [{ kind: 'text', text: '一\n二\r\n三' }, 3],
    [{ kind: 'spacer', rows: 4 }, 4],
    [view(), 1],
    [view({ title: '表' }), 2],
  ])('of %j are %i', (block, rows) => {
    expect(countFixedRows(block)).toBe(rows);
  });
});
