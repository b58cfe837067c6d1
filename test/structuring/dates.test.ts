import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectDayFirst, isoDate, parseDateText } from '../../core/types/date.ts';
import { type CellValue, convertValue, inferColumn } from '../../core/types/infer.ts';

const text = (value: string): CellValue => ({ kind: 'text', text: value });
const number = (value: number): CellValue => ({ kind: 'number', number: value, numberFormat: 'General' });

describe('parseDateText: dates as people write them', () => {
  const read: [string, string][] = [
    ['2024-04-01', '2024-04-01'],
    ['2024/4/1', '2024-04-01'],
    ['2024.4.1', '2024-04-01'],
    ['2024年4月1日', '2024-04-01'],
    ['２０２４年４月１日', '2024-04-01'],
    ['令和5年4月1日', '2023-04-01'],
    ['令和元年5月1日', '2019-05-01'],
    ['R5.4.1', '2023-04-01'],
    ['H30/12/31', '2018-12-31'],
    ['昭和60年1月2日', '1985-01-02'],
    ['1-Apr-2024', '2024-04-01'],
    ['1 April 2024', '2024-04-01'],
    ['April 1, 2024', '2024-04-01'],
    ['2024/4/1(月)', '2024-04-01'],
    ['2024-04-01 09:30', '2024-04-01T09:30:00'],
    ['2024-04-01T09:30:15', '2024-04-01T09:30:15'],
  ];
  it.each(read)('%s is %s', (written, iso) => {
    expect(parseDateText(written)?.iso).toBe(iso);
  });

  it.each(['2024-02-30', '2023/2/29', '2024-13-01', '3/4/2024', '12:30', '2024', 'April', '2024-04-01 25:00'])(
    '%s is no date',
    (written) => {
      expect(parseDateText(written)).toBeNull();
    },
  );

  it('lets the column say whether the day or the month comes first', () => {
    expect(detectDayFirst(['3/4/2024', '25/12/2024'])).toBe(true);
    expect(detectDayFirst(['3/4/2024', '12/25/2024'])).toBe(false);
    expect(detectDayFirst(['3/4/2024'])).toBeUndefined();
    expect(detectDayFirst(['13/1/2024', '1/13/2024'])).toBeUndefined();
    expect(parseDateText('3/4/2024', true)?.iso).toBe('2024-04-03');
  });

  it('reads back every day in every form', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date('1990-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }), (date) => {
        const [y, m, d] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
        const iso = isoDate(y, m, d);
        for (const written of [`${y}-${m}-${d}`, `${y}/${m}/${d}`, `${y}年${m}月${d}日`]) expect(parseDateText(written)?.iso).toBe(iso);
      }),
    );
  });
});

describe('inferColumn and convertValue: types of columns', () => {
  const cases: [string, CellValue[], string][] = [
    ['integers', [number(1), number(2)], 'BIGINT'],
    ['fractions', [number(1), number(2.5)], 'DOUBLE'],
    ['numbers written as text', [text('1,200'), text('△35'), text('-')], 'BIGINT'],
    ['percentages', [text('12.5%'), text('0.0%')], 'DOUBLE'],
    ['codes', [text('00101'), text('00208')], 'VARCHAR'],
    ['codes among numbers', [number(12), text('0013')], 'VARCHAR'],
    ['dates', [text('2024-04-01'), text('令和5年4月1日')], 'DATE'],
    ['moments', [text('2024-04-01'), text('2024-04-01 10:00')], 'TIMESTAMP'],
    ['months', [text('2024年4月'), text('2024年5月')], 'DATE'],
    ['years are numbers', [text('2024'), text('2025')], 'BIGINT'],
    ['words', [text('a'), number(1)], 'VARCHAR'],
    ['truth', [{ kind: 'boolean', boolean: true }], 'BOOLEAN'],
    ['truth written as text', [text('TRUE'), text('false'), text('-'), { kind: 'boolean', boolean: true }], 'BOOLEAN'],
    ['truth among words', [text('TRUE'), text('maybe')], 'VARCHAR'],
    ['truth among numbers', [text('TRUE'), text('1')], 'VARCHAR'],
    ['nothing', [text('-'), text('n/a')], 'VARCHAR'],
    ['beyond exact integers', [number(1e17)], 'DOUBLE'],
  ];
  it.each(cases)('%s', (_, values, type) => {
    expect(inferColumn(values).type).toBe(type);
  });

  it('reads TRUE and FALSE in any case', () => {
    const values = ['TRUE', 'False', 'n/a'].map(text);
    const column = inferColumn(values);
    expect(values.map((value) => convertValue(value, column))).toEqual([true, false, null]);
  });

  it('keeps every value that a type was chosen for', () => {
    const value = fc.oneof(
      fc.integer().map(number),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(number),
      fc.string({ minLength: 1 }).map(text),
      fc.constantFrom('1,000', '2024-04-01', '△5', 'abc', '007').map(text),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), (values) => {
        const column = inferColumn(values);
        for (const one of values) {
          const stored = convertValue(one, column);
          if (column.type === 'VARCHAR') expect(typeof stored).toBe('string');
          else if (one.kind === 'number') expect(stored).toBe(one.number);
        }
      }),
    );
  });
});
