import { describe, expect, it } from 'vitest';
import type { Grid } from '../../core/grid/grid.ts';
import { analyze, listDoubtful, type SpecDecision, type SpecRegion } from '../../core/structuring/index.ts';
import { LONG_LIST_ROWS } from '../../core/structuring/thresholds.ts';
import { drawGrid, makeGrid } from './picture.ts';
import { makeRegion } from './structure.ts';

function readRegion(grid: Grid, kind: SpecRegion['kind'] = 'data'): SpecRegion {
  const region = analyze([grid], 'file.xlsx').regions.find((each) => each.kind === kind);
  if (!region) throw new Error(`no ${kind} was found`);
  return region;
}

const decisionOf = (region: SpecRegion, about: SpecDecision['about']): SpecDecision => {
  const found = region.decisions?.find((decision) => decision.about === about);
  if (!found) throw new Error(`nothing was decided about ${about}`);
  return found;
};

const list = drawGrid(`
  *Item | *Price | *Count
  pen | 12 | 3
  ink | 40 | 1
  cap | 7 | 9
`);

describe('weighTable: how sure the reading of a table is', () => {
  it('is high for a plain list, without another reading', () => {
    const region = readRegion(list);
    expect(region.confidence).toBeGreaterThan(0.9);
    expect(region.decisions?.map(({ otherwise }) => otherwise)).toEqual([undefined, undefined]);
  });

  it('is that of the least sure decision', () => {
    for (const region of analyze([list, drawGrid('a|b\n\n1|x\ny|2\n\n\nz|3', { sheet: 'other' })], 'f.xlsx').regions)
      if (region.decisions) expect(region.confidence).toBe(Math.min(...region.decisions.map(({ confidence }) => confidence)));
  });

  it('falls where columns change their types below a blank row, and says where it would be cut', () => {
    const picture = (lower: string) => `
      *Item | *Price | *Count | *Sum
      pen | 12 | 3 | 36
      ink | 40 | 1 | 40

      ${lower}
    `;
    const even = decisionOf(readRegion(drawGrid(picture('cap | 7 | 9 | 63\npin | 5 | 9 | 45'))), 'region');
    const odd = decisionOf(readRegion(drawGrid(picture('7 | cap | nine | 63\n8 | pin | ten | 45'))), 'region');
    expect(odd.confidence).toBeLessThan(even.confidence);
    expect(odd.otherwise).toBe('another table begins at row 5');
    expect(odd.reason).toContain('the columns change their types at row 5');
  });

  it('is lower where nothing tells names from values, and names the row', () => {
    const plain = decisionOf(readRegion(drawGrid('a | b | c\nd | e | f\ng | h |\n')), 'header_rows');
    expect(plain.confidence).toBeLessThan(decisionOf(readRegion(list), 'header_rows').confidence);
  });

  it('tells computed rows that figures bear out from those that only have the name', () => {
    const picture = (total: number) => drawGrid(`Item | A | B\npen | 1 | 2\nink | 30 | 40\ncap | 500 | 700\nTotal | ${total} | ${total}`);
    const named = decisionOf(readRegion(picture(77)), 'totals');
    const right = drawGrid('Item | A | B\npen | 1 | 2\nink | 30 | 40\ncap | 500 | 700\nTotal | 531 | 742');
    expect(named.confidence).toBeLessThan(decisionOf(readRegion(right), 'totals').confidence);
    expect(named.otherwise).toBe('row 5: details');
  });

  it('tells that periods could stay columns, and that columns could become rows', () => {
    const months = '2024年1月 | 2024年2月 | 2024年3月';
    const long = decisionOf(readRegion(drawGrid(`店 | ${months}\n東京 | 1 | 2 | 3\n大阪 | 4 | 5 | 6`)), 'long_form');
    const numbered = decisionOf(readRegion(drawGrid(`店 | 面積 | ${months}\n東京 | 70 | 1 | 2 | 3\n大阪 | 80 | 4 | 5 | 6`)), 'long_form');
    expect(numbered.confidence).toBeLessThan(long.confidence);
    expect(numbered.otherwise).toBe('the periods stay columns');
    const repeated = decisionOf(
      readRegion(drawGrid('店 | 1月 | 2月 | 1月 | 2月\n東京 | 1 | 2 | 3 | 4\n大阪 | 4 | 5 | 6 | 7')),
      'long_form',
    );
    expect(repeated.otherwise).toBe('a row for each period');
  });

  it('speaks of the rows of the sheet where a long list was read in short', () => {
    const records = Array.from({ length: LONG_LIST_ROWS * 2 }, (_, n) => [`item ${n}`, String(n), '5']);
    const below = [[], [], [], [], [], [], [], [], [], ['name', 'kind', 'sort'], ['a', 'b', ''], ['c', 'd', 'e']];
    const regions = analyze([makeGrid([['Item', 'No', 'Count'], ...records, ...below])], 'f.xlsx').regions;
    const rows = regions.flatMap(({ decisions = [] }) => decisions).flatMap(({ reason }) => reason.match(/row (\d+)/)?.[1] ?? []);
    for (const row of rows.map(Number)) expect(row <= 3 || row > LONG_LIST_ROWS * 2).toBe(true);
    expect(rows.some((row) => Number(row) > LONG_LIST_ROWS * 2)).toBe(true);
    expect(regions).toHaveLength(2);
  });
});

describe('weighForm: how sure it is that lines are a form', () => {
  it('counts the lines that are pairs', () => {
    const region = readRegion(drawGrid('*申請者 | 山田\n*部署 | 営業部\n*区分 | 新規\n*備考 | なし'), 'form');
    expect(decisionOf(region, 'kind')).toMatchObject({ confidence: 0.83, reason: '4 of 4 lines are names with a value beside them' });
  });
});

describe('listDoubtful: sheets that people should look at', () => {
  const decisions: SpecDecision[] = [
    { about: 'region', confidence: 0.9, reason: 'nothing' },
    { about: 'header_rows', confidence: 0.4, reason: 'no row reads as a header', otherwise: 'row 1 is data' },
  ];
  const table = (sheet: string, range: string, confidence: number) => makeRegion({ sheet, range, confidence, decisions });

  it('are those that stay raw, and those whose largest table is unsure', () => {
    const raw = [{ sheet: 'raw', reason: 'cells would be lost: A1' }];
    const regions = [
      table('raw', 'A1:B2', 0.1),
      table('small', 'A1:B2', 0.4),
      table('small', 'A5:F50', 0.9),
      table('large', 'A1:F50', 0.4),
    ];
    expect(listDoubtful(regions, raw)).toEqual([
      ...raw,
      { sheet: 'large', reason: 'A1:F50: no row reads as a header; else: row 1 is data' },
    ]);
  });

  it('are none where people have decided', () => {
    expect(listDoubtful([makeRegion({ range: 'A1:B9' })], [])).toEqual([]);
  });
});
