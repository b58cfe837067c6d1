import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Grid } from '../../core/grid/grid.ts';
import { analyze, applyCorrections, build, fromContract, type ParseSpec, type SpecJson, toContract } from '../../core/structuring/index.ts';
import type { components } from '../../schema/contract.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { merges, rows } from './anySheet.ts';
import { drawGrid, makeGrid } from './picture.ts';

const golden = resolve(fileURLToPath(new URL('../../..', import.meta.url)), 'shared/structuring/golden');
if (!existsSync(golden)) console.warn('SKIPPED: ../shared/structuring is not there, so its golden cases are not sent through the contract');

/** As it travels: through text. */
function travel(spec: ParseSpec): ParseSpec {
  return fromContract(JSON.parse(JSON.stringify(toContract(spec))) as SpecJson);
}

/** How sure a reading is goes out and does not come back: nobody can say it but who has looked. */
function leaveOutDecisions(spec: ParseSpec): ParseSpec {
  return { ...spec, regions: spec.regions.map(({ confidence: _, decisions: __, ...region }) => region) };
}

function expectSame(grids: Grid[], fileName: string): void {
  const spec = analyze(grids, fileName);
  expect(travel(spec)).toEqual(leaveOutDecisions(spec));
  expect(applyCorrections(spec, toContract(spec))).toEqual(spec);
  expect(build(grids, travel(spec), fileName)).toEqual(build(grids, spec, fileName));
}

const statement = drawGrid(
  `
  *損益計算書
        |        |       | (単位：千円)
  *科目 | *2022年度 | *2023年度 | *合計
  売上高 | 100 | 120 | 220
  売上原価 | 60 | 70 | 130
  売上総利益 | =B4-B5~40 | =C4-C5~50 | 90
  販管費 | 10 | 15 | 25
  営業利益 | =B6-B7~30 | =C6-C7~35 | 65
  ※ 監査前
`,
  { sheet: 'PL' },
);

describe('toContract and fromContract: a ParseSpec in the form of the contract', () => {
  it('has the types of the contract', () => {
    expectTypeOf<SpecJson>().toExtend<components['schemas']['ParseSpec']>();
    expectTypeOf<components['schemas']['ParseSpec']>().toExtend<SpecJson>();
  });

  it('says what is what', () => {
    const { regions } = toContract(analyze([statement], '損益.xlsm'));
    const table = regions.find((region) => region.kind === 'report');
    expect(regions.map(({ id, kind, name, target, selected }) => [id, kind, name, target, selected])).toEqual([
      ['r1', 'title', null, '損益計算書', false],
      ['r2', 'note', null, '損益計算書', false],
      ['r3', 'report', '損益計算書', undefined, false],
      ['r4', 'note', null, '損益計算書', false],
    ]);
    expect(table?.periods).toEqual([
      { from: 'B', label: '2022年度', start: '2022-04-01', measure: null },
      { from: 'C', label: '2023年度', start: '2023-04-01', measure: null },
      { from: 'D', label: '合計', start: null, measure: null },
    ]);
    expect(table?.totals).toEqual([
      { range: 'A6:D6', kind: 'computed', formula: '売上高 - 売上原価' },
      { range: 'A8:D8', kind: 'computed', formula: '売上総利益 - 販管費' },
      { range: 'D3:D8', kind: 'total', formula: null },
    ]);
    expect(toContract(analyze([statement], '損益.xlsm')).reader).toEqual({ format: 'xlsx' });
  });

  it('keeps the decisions about regions that people left alone', () => {
    const spec = analyze([statement], '損益.xlsm');
    const json = toContract(spec);
    const at = json.regions.findIndex((region) => region.kind === 'report');
    const [report, other] = [json.regions[at], json.regions[0]];
    if (!report || !other) throw new Error('no report was found');
    expect(report.decisions?.map(({ about }) => about)).toEqual(['region', 'header_rows', 'kind', 'totals', 'long_form']);
    expect(applyCorrections(spec, { ...json, regions: [{ ...report, selected: true, confidence: 1 }] }).regions).toEqual([
      { ...spec.regions[at], selected: true },
    ]);
    const [corrected] = applyCorrections(spec, { ...json, regions: [{ ...report, name: '損益' }] }).regions;
    expect(corrected).not.toHaveProperty('confidence');
    expect(corrected).not.toHaveProperty('decisions');
  });

  it('reads what people leave out and how they write it', () => {
    const json = toContract(analyze([drawGrid('a|b|c\nx|1|2\ny|3|4\nz|5|6')], 'f.csv'));
    const region = json.regions[0];
    if (!region) throw new Error('no table found');
    region.columns = [
      { name: 'a', from: 'A', type: 'text', format: null },
      { name: 'b', from: 'B', type: 'numeric(10, 2)' },
      { name: 'c', from: 'C', type: 'int' },
    ];
    region.periods = [
      { from: 'B', label: '2023', start: null },
      { from: 'C', label: '2024' },
    ];
    region.totals = [{ range: 'A3:C4', kind: 'total' }];
    json.reader = { format: 'csv', encoding: null, delimiter: ';' };
    const spec = fromContract(json);
    expect(spec.reader).toEqual({ format: 'csv', delimiter: ';' });
    expect(spec.regions[0]?.columns.map((column) => column.type)).toEqual(['VARCHAR', 'DECIMAL(10,2)', 'BIGINT']);
    expect(spec.regions[0]?.periods).toEqual([
      { from: 'B', label: '2023', start: null, measure: '値' },
      { from: 'C', label: '2024', start: '2024-01-01', measure: '値' },
    ]);
    expect(spec.regions[0]?.totals).toEqual([
      { at: 3, kind: 'total', formula: null },
      { at: 4, kind: 'total', formula: null },
    ]);
  });

  it('comes back as it went, for any sheet', () => {
    expectSame([statement], '損益.xlsx');
    fc.assert(
      fc.property(fc.array(fc.tuple(rows, merges), { minLength: 1, maxLength: 2 }), (drawn) => {
        expectSame(
          drawn.map(([lines, merged], n) => makeGrid(lines, { sheet: `S${n}`, merges: merged })),
          'f.xlsx',
        );
      }),
      { numRuns: 200 },
    );
  });

  it.skipIf(!existsSync(golden))('comes back as it went, for the golden cases', async () => {
    for (const name of readdirSync(golden)) {
      const file = readdirSync(join(golden, name)).find((entry) => entry.endsWith('.xlsx'));
      if (file) expectSame((await readWorkbook(join(golden, name, file))).sheets, file);
    }
  });
});
