import { describe, expect, it } from 'vitest';
import { Ledger } from '../../core/structuring/building/ledger.ts';
import { buildNotes } from '../../core/structuring/building/notes.ts';
import { namingOf } from '../../core/structuring/names/naming.ts';
import type { SpecRegion } from '../../core/structuring/spec/spec.ts';
import { drawSheet, type PictureOptions } from './picture.ts';
import { makeRegion, rowsOf } from './structure.ts';

const region = (kind: SpecRegion['kind'], range: string, name = '売上') => makeRegion({ id: range, range, kind, name });

function build(picture: string, regions: SpecRegion[], options?: PictureOptions) {
  const view = drawSheet(picture, options);
  const ledger = new Ledger(view);
  return { table: buildNotes(view, ledger, regions, namingOf(null)), placed: ledger.summarize() };
}

describe('buildNotes', () => {
  it('says of each line what it is, where it stands and which table it is about', () => {
    const { table, placed } = build('売上表\n(単位：円)\n※返品を含む', [
      region('title', 'A1'),
      region('note', 'A2'),
      region('note', 'A3', ''),
    ]);
    expect(table?.columns.map(({ name }) => name)).toEqual(['順序', '種別', '内容', 'セル', '対象テーブル']);
    expect(rowsOf(table)).toEqual([
      [1, 'タイトル', '売上表', 'A1', '売上'],
      [2, '単位', '(単位：円)', 'A2', '売上'],
      [3, '注記', '※返品を含む', 'A3', null],
    ]);
    expect(placed).toMatchObject({ titles: 1, notes: 2, lost: [] });
  });

  it('makes a row of each pair of a form, with the range of its cells', () => {
    const { table, placed } = build('*所属:|営業課||*番号|12', [region('form', 'A1:E1', '')], { merges: ['B1:C1'] });
    expect(rowsOf(table)).toEqual([
      [1, '項目', '所属: 営業課', 'A1:C1', null],
      [2, '項目', '番号: 12', 'D1:E1', null],
    ]);
    expect(placed).toMatchObject({ labels: 2, values: 2, lost: [] });
  });

  it('takes the first cell of a line without labels for its label', () => {
    expect(rowsOf(build('税率|0.1', [region('form', 'A1:B1')]).table)).toEqual([[1, '項目', '税率: 0.1', 'A1:B1', '売上']]);
  });

  it('joins the cells of a line, a text that is repeated once', () => {
    const { table } = build('東|東|西', [region('note', 'A1:C1')]);
    expect(rowsOf(table)[0]?.[2]).toBe('東 西');
    expect(table?.provenance).toEqual({ offsets: [0, 3], cells: [0, 1, 2], columns: [2, 2, 2] });
  });

  it('is null without any text', () => expect(build('a', []).table).toBeNull());
});
