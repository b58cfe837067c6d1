import { describe, expect, it } from 'vitest';
import { checkSum, isSameSum, readSumFormula, sumTerms, type Term, unitOf } from '../../core/structuring/reports/sums.ts';

/** `+5+6-7` as terms. */
const terms = (text: string): Term[] =>
  [...text.matchAll(/([+-])(\d+)/g)].map(([, sign, row]) => ({ row: Number(row), sign: sign === '-' ? -1 : 1 }));
const same = (row: number) => row;

describe('readSumFormula', () => {
  const columnB = 2;
  it.each([
    ['SUM(B5:B7)', '+5+6+7'],
    ['=SUM($B$5:$B$6)', '+5+6'],
    ['SUM(B5,B8:B9)', '+5+8+9'],
    ['B4-B8', '+4-8'],
    ['+B5+B6-SUM(B7:B8)', '+5+6-7-8'],
    ['SUBTOTAL(9,B2:B3)', '+2+3'],
    ['subtotal(109, b2)', '+2'],
  ])('reads %s', (formula, expected) => expect(readSumFormula(formula, columnB)).toEqual(terms(expected)));

  it.each([
    ['another column', 'SUM(C5:C7)'],
    ['a range over columns', 'SUM(B5:C7)'],
    ['an average', 'AVERAGE(B5:B7)'],
    ['an average by number', 'SUBTOTAL(1,B5:B7)'],
    ['a product', 'B4*B5'],
    ['a factor', 'SUM(B5:B7)*1.1'],
    ['a constant', 'B4+100'],
    ['another sheet', 'SUM(Sheet2!B5:B7)'],
    ['a range upside down', 'SUM(B7:B5)'],
    ['nothing', ''],
  ])('is null for %s', (_, formula) => expect(readSumFormula(formula, columnB)).toBeNull());

  it('is null for what goes beyond what the sums of a file may list', () => {
    const budget = { terms: 5 };
    expect(readSumFormula('SUM(B5:B7)', columnB, budget)).toHaveLength(3);
    expect(readSumFormula('SUM(B5:B7)', columnB, budget)).toBeNull();
    expect(readSumFormula('B5+B6', columnB, budget)).toHaveLength(2);
    expect(readSumFormula('B5', columnB, budget)).toBeNull();
  });
});

describe('isSameSum', () => {
  it.each([
    [100, 100, 3, 1, true],
    // Three rounded thirds: 33 + 33 + 33 stated as 100.
    [100, 99, 3, 1, true],
    [100, 97, 3, 1, false],
    [100, 99.9, 2, 0.1, true],
    [100, 99, 2, 0.1, false],
    [1e12, 1e12 + 1e5, 2, 0, true],
    [0, 1, 1, 0, false],
  ])('%d against %d of %d addends in units of %d: %s', (stated, computed, addends, unit, expected) => {
    expect(isSameSum(stated, computed, addends, unit)).toBe(expected);
  });
});

describe('unitOf', () => {
  it.each([
    [[1, 20, null], 1],
    [[1, 2.5], 0.1],
    [[1.25, 3], 0.01],
    // Long decimals are exact.
    [[1.23456], 0],
    [[0.1 + 0.2], 0.1],
    [[], 1],
  ])('of %j is %d', (values, unit) => expect(unitOf(values)).toBe(unit));
});

describe('sumTerms', () => {
  it('adds with signs, and counts the terms that hold a number', () => {
    expect(sumTerms([[10], [4], [null]], terms('+0-1+2+9'), 0, same)).toEqual({ sum: 6, count: 2 });
  });

  it('finds the row of a term where it is told', () => {
    expect(sumTerms([[1], [2]], terms('+0'), 0, (row) => row + 1)).toEqual({ sum: 2, count: 1 });
  });
});

describe('checkSum', () => {
  const matrix = [
    [1, 0, 5, null],
    [2, 0, 5, 1],
    [3, 0, 9, 1],
  ];
  it('compares the columns that have numbers, and does not count zeros as evidence', () => {
    const check = checkSum([...matrix, [3, 0, null, null]], [0, 0, 0, 0], 3, terms('+0+1'), same);
    expect(check).toMatchObject({ compared: 2, holds: 2, weighty: 1 });
  });

  it('says how many columns do not hold', () => {
    expect(checkSum(matrix, [0, 0, 0, 0], 2, terms('+0+1'), same)).toMatchObject({ compared: 4, holds: 3, weighty: 2 });
  });
});
