import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arePeriodsInOrder, combinePeriods, type Period, parsePeriod } from '../../core/period/period.ts';

const read = (text: string): Period => {
  const period = parsePeriod(text);
  if (!period) throw new Error(`${text} is no period`);
  return period;
};

describe('parsePeriod: periods as headers write them', () => {
  const cases: [string, Period['kind'], string | null][] = [
    ['2024年4月', 'month', '2024-04-01'],
    ['2024/04', 'month', '2024-04-01'],
    ['2024-4', 'month', '2024-04-01'],
    ['Apr-24', 'month', '2024-04-01'],
    ['April 2024', 'month', '2024-04-01'],
    ['4月', 'month', null],
    ['Sep.', 'month', null],
    ['令和5年4月', 'month', '2023-04-01'],
    ['R5.4', 'month', '2023-04-01'],
    ['2023年度4月', 'month', '2023-04-01'],
    ['2023年度1月', 'month', '2024-01-01'],
    ['2023年度', 'fiscalYear', '2023-04-01'],
    ['令和5年度', 'fiscalYear', '2023-04-01'],
    ['令和元年度', 'fiscalYear', '2019-04-01'],
    ['平成30年度', 'fiscalYear', '2018-04-01'],
    ['FY2023', 'fiscalYear', null],
    ['FY23', 'fiscalYear', null],
    ['2023', 'year', '2023-01-01'],
    ['2023年', 'year', '2023-01-01'],
    ['昭和60年', 'year', '1985-01-01'],
    ['R5', 'year', '2023-01-01'],
    ['H30', 'year', '2018-01-01'],
    ['2023年3月期', 'fiscalYear', '2022-04-01'],
    ['2023/3期', 'fiscalYear', '2022-04-01'],
    ['2023年12月期', 'fiscalYear', '2023-01-01'],
    ['Q1', 'quarter', null],
    ['1Q', 'quarter', null],
    ['第1四半期', 'quarter', null],
    ['第２四半期', 'quarter', null],
    ['2023年度第1四半期', 'quarter', '2023-04-01'],
    ['2023年度第4四半期', 'quarter', '2024-01-01'],
    ['Q2 2023', 'quarter', '2023-04-01'],
    ['2023Q4', 'quarter', '2023-10-01'],
    ['上期', 'half', null],
    ['下半期', 'half', null],
    ['2023年度下期', 'half', '2023-10-01'],
    ['H1', 'half', null],
    ['2024/4/1', 'date', '2024-04-01'],
    ['第45期', 'term', null],
    ['第3週', 'week', null],
  ];
  it.each(cases)('%s is a %s from %s', (text, kind, start) => {
    expect(read(text)).toMatchObject({ kind, start });
  });

  it.each(['', '売上', '合計', '13月', 'Q5', 'Maybe', '12', '99999', '3000', 'A1', '2024年13月', 'M3', '令和'])(
    '%s is no period',
    (text) => {
      expect(parsePeriod(text)).toBeNull();
    },
  );

  it('completes a part by the year above it', () => {
    expect(combinePeriods(read('2023年度'), read('4月'))?.start).toBe('2023-04-01');
    expect(combinePeriods(read('2023年度'), read('3月'))?.start).toBe('2024-03-01');
    expect(combinePeriods(read('2023年'), read('3月'))?.start).toBe('2023-03-01');
    expect(combinePeriods(read('2023年度'), read('Q4'))?.start).toBe('2024-01-01');
    expect(combinePeriods(read('FY2023'), read('Q1'))?.start).toBeNull();
    expect(combinePeriods(read('2023年度'), read('2024年4月'))).toBeNull();
  });

  it('knows order, either way, and once around the year', () => {
    const inOrder = (...texts: string[]) => arePeriodsInOrder(texts.map(read));
    expect(inOrder('2021年度', '2022年度', '2023年度')).toBe(true);
    expect(inOrder('2023', '2022')).toBe(true);
    expect(inOrder('4月', '5月', '12月', '1月', '3月')).toBe(true);
    expect(inOrder('2021', '2023', '2022')).toBe(false);
    expect(inOrder('2021', '2021')).toBe(false);
    expect(inOrder('4月', '4月')).toBe(false);
    expect(inOrder('2023', '4月')).toBe(false);
    expect(inOrder('2023')).toBe(false);
  });

  it('reads any month in every form alike', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1950, max: 2049 }), fc.integer({ min: 1, max: 12 }), (year, month) => {
        const start = `${year}-${String(month).padStart(2, '0')}-01`;
        for (const text of [`${year}年${month}月`, `${year}/${month}`, `${year}-${String(month).padStart(2, '0')}`])
          expect(parsePeriod(text)?.start).toBe(start);
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ maxLength: 40 }), (text) => void parsePeriod(text)));
  });
});
