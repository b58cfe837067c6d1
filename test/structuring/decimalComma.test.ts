import { describe, expect, it } from 'vitest';
import { analyze, build, buildSelected, type ParseSpec } from '../../core/structuring/index.ts';
import { castCell } from '../../core/types/castCell.ts';
import { type CellValue, convertValue, inferColumn } from '../../core/types/infer.ts';
import { readCsv } from '../../store/csv/index.ts';
import { rowsOf } from './structure.ts';

const text = (value: string): CellValue => ({ kind: 'text', text: value });

/** What a column of these texts becomes: its type, then its values. */
function read(...texts: string[]) {
  const column = inferColumn(texts.map(text));
  return [column.type, ...texts.map((one) => convertValue(text(one), column))];
}

describe('a column with commas before decimals', () => {
  it.each<[string, string[], unknown[]]>([
    ['both marks', ['1.234,50', '-2.000,00'], ['DOUBLE', 1234.5, -2000]],
    ['what could be either follows the others', ['1.234,50', '1.234', '1,234'], ['DOUBLE', 1234.5, 1234, 1.234]],
    ['decimals only', ['12,50', '0,75', '3'], ['DOUBLE', 12.5, 0.75, 3]],
    ['thousands only', ['1.234.567', '1.234', '999'], ['BIGINT', 1234567, 1234, 999]],
    ['currency, percent, brackets and marks', ['€ 1.234,50', '12,5%', '(3,00)', '-'], ['DOUBLE', 1234.5, 0.125, -3, null]],
    ['a leading zero decides', ['0,125', '1,250'], ['DOUBLE', 0.125, 1.25]],
  ])('%s', (_, texts, expected) => expect(read(...texts)).toEqual(expected));

  it.each<[string, string[], unknown[]]>([
    ['points before decimals', ['1,234.50', '1,234'], ['DOUBLE', 1234.5, 1234]],
    ['what could be either is read as always', ['1.234', '2.345'], ['DOUBLE', 1.234, 2.345]],
    ['the same with commas', ['1,234', '2,345'], ['BIGINT', 1234, 2345]],
    ['values that disagree', ['1.234,50', '1,234.50'], ['VARCHAR', '1.234,50', '1,234.50']],
    ['lists of digits', ['1,2', '3,4'], ['VARCHAR', '1,2', '3,4']],
    ['something else among them', ['1.234,50', '12.04.2024'], ['VARCHAR', '1.234,50', '12.04.2024']],
  ])('is not seen in %s', (_, texts, expected) => expect(read(...texts)).toEqual(expected));

  it('is read by every digit into a DECIMAL', () => {
    const type = { kind: 'DECIMAL', precision: 38, scale: 4 } as const;
    expect(castCell(text('12.345.678.901.234.567,8901'), type, { decimalComma: true })).toBe('12345678901234567.8901');
    expect(castCell(text('12.34,5'), type, { decimalComma: true })).toBeUndefined();
  });
});

describe('a table with such a column', () => {
  const csv = 'Name;Betrag;Menge\nA;1.234,50;1.234\nB;12,50;2.000\n';
  const readSpec = async () => {
    const { grid } = await readCsv(Buffer.from(csv), { filename: 'Umsatz.csv' });
    return { grid, spec: analyze([grid], 'Umsatz.csv') };
  };

  it('says so in its spec, and leaves a column that could be either as text', async () => {
    const { grid, spec } = await readSpec();
    expect(spec.regions[0]?.columns).toEqual([
      { name: 'Name', from: 'A', type: 'VARCHAR' },
      { name: 'Betrag', from: 'B', type: 'DOUBLE', format: '#.##0,00' },
      { name: 'Menge', from: 'C', type: 'VARCHAR' },
    ]);
    expect(rowsOf(build([grid], spec, 'Umsatz.csv').tables[0])).toEqual([
      ['A', 1234.5, '1.234'],
      ['B', 12.5, '2.000'],
    ]);
  });

  it('follows a correction of the spec', async () => {
    const { grid, spec } = await readSpec();
    const corrected: ParseSpec = structuredClone(spec);
    Object.assign(corrected.regions[0]?.columns[2] ?? {}, { type: 'BIGINT', format: '#.##0,00' });
    const { tables, misfits } = buildSelected([grid], corrected, null);
    expect(misfits).toEqual([]);
    expect(rowsOf(tables[0]).map((row) => row[2])).toEqual([1234, 2000]);
  });
});
