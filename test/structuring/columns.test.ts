import { describe, expect, it } from 'vitest';
import { claimColumn, nameColumns, readHeaderColumns, readHeaderParts } from '../../core/structuring/headers/columnNames.ts';
import { namingOf } from '../../core/structuring/names/naming.ts';
import { drawSheet, type PictureOptions, usedRange } from './picture.ts';

/** Columns of a table whose header is the first `headerRows` rows, by letter: `B 売上/計画`. */
function columnsOf(picture: string, headerRows: number, options?: PictureOptions): string[] {
  const view = drawSheet(picture, options);
  const rows = Array.from({ length: headerRows }, (_, k) => k + 1);
  return readHeaderColumns(view, usedRange(view), rows, headerRows + 1).map(
    ({ column, parts }) => `${String.fromCharCode(64 + column)} ${parts.join('/')}`,
  );
}

describe('readHeaderColumns', () => {
  it.each<[string, string, number, PictureOptions, string[]]>([
    ['one row', '品名|数量\nりんご|1', 1, {}, ['A 品名', 'B 数量']],
    [
      'a merged parent over its children',
      '部門|売上||利益\n|計画|実績|実績\n東|1|2|3',
      2,
      { merges: ['A1:A2', 'B1:C1'] },
      ['A 部門', 'B 売上/計画', 'C 売上/実績', 'D 利益/実績'],
    ],
    ['a parent that is not merged', '部門|売上|\n|計画|実績\n東|1|2', 2, {}, ['A 部門', 'B 売上/計画', 'C 売上/実績']],
    ['a parent written again on each column', '部門|売上|売上\n|計画|実績\n東|1|2', 2, {}, ['A 部門', 'B 売上/計画', 'C 売上/実績']],
    ['the same text twice, once', '部門|売上\n部門|売上\n東|1', 2, {}, ['A 部門', 'B 売上']],
    ['a column with values and no name', '品名|\nりんご|1', 1, {}, ['A 品名', 'B ']],
    ['no blank column between others', '品名||数量\nりんご||1', 1, {}, ['A 品名', 'C 数量']],
    ['a name whose column is blank', '品名|備考\nりんご|', 1, {}, ['A 品名', 'B 備考']],
  ])('reads %s', (_, picture, headerRows, options, expected) => expect(columnsOf(picture, headerRows, options)).toEqual(expected));

  it('gives the day of a header cell that is a date', () => {
    const view = drawSheet('品名|@2024-04-01\nりんご|1');
    expect(readHeaderColumns(view, usedRange(view), [1], 2).map(({ days }) => days)).toEqual([[null], ['2024-04-01']]);
  });
});

describe('readHeaderParts', () => {
  it('points to the cell that says each part, also where it is spread', () => {
    const view = drawSheet('部門|売上|\n|計画|実績\n東|1|2', { merges: ['B1:C1'] });
    const parts = readHeaderParts(view, usedRange(view), [1, 2]);
    expect(parts.map((column) => column.map(({ text, cell }) => [text, cell]))).toEqual([
      [['部門', 0]],
      [
        ['売上', 1],
        ['計画', 2],
      ],
      [
        ['売上', 1],
        ['実績', 3],
      ],
    ]);
  });
});

describe('nameColumns', () => {
  const named = (...parts: string[][]) =>
    nameColumns(
      parts.map((own, k) => ({ column: k + 1, parts: own, days: own.map(() => null) })),
      (position) => position === 0,
      namingOf(null),
    );

  it.each([
    ['joins parts', [['売上', '計画']], ['売上_計画']],
    ['numbers what has no name, and calls labels 項目', [[], [], ['..']], ['項目', '列2', '列3']],
    ['tells repeats apart, whatever their case', [['a'], ['A'], ['a']], ['a', 'A_2', 'a_3']],
    ['leaves the row id to the table', [['__svc_row_id']], ['__svc_row_id_2']],
  ])('%s', (_, parts, expected) => expect(named(...parts)).toEqual(expected));
});

describe('claimColumn', () => {
  it('goes on counting past suffixes that are taken', () => {
    const taken = new Set(['a', 'a_2']);
    expect([claimColumn('A', taken), claimColumn('b', taken), claimColumn('a', taken)]).toEqual(['A_3', 'b', 'a_4']);
  });
});
