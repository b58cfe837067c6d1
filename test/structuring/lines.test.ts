import { describe, expect, it } from 'vitest';
import {
  boundsOf,
  isBody,
  isColumnOfDigits,
  isFiller,
  isNumericColumn,
  isTextColumn,
  type Line,
  profileColumns,
  readLines,
} from '../../core/structuring/sheet/lines.ts';
import { drawSheet, usedRange } from './picture.ts';

const readAll = (picture: string, options?: Parameters<typeof drawSheet>[1]) => {
  const view = drawSheet(picture, options);
  return { view, block: usedRange(view), lines: readLines(view, usedRange(view)) };
};

describe('readLines', () => {
  it.each<[string, Partial<Line>]>([
    ['品名|2023|12|-|@2024-04-01', { distinct: 5, texts: 1, years: 1, numbers: 2, marks: 1, periods: 1 }],
    ['|a||b|', { left: 2, right: 4, distinct: 2 }],
    ['東|東|西', { distinct: 2, texts: 3 }],
    ['*a|*#b|c', { bold: 2, filled: 1 }],
    [`${'長'.repeat(61)}|b`, { prose: true }],
    [`${'長'.repeat(60)}|b`, { prose: false }],
    ['設備|1|2|3|4', { counting: true }],
    ['設備|1|2|3', { counting: false }],
    ['設備|1|2|3|5', { counting: false }],
  ])('reads %s', (picture, expected) => expect(readAll(picture).lines[0]).toMatchObject(expected));

  it('leaves out blank rows, and columns outside of the block', () => {
    const { view } = readAll('a|b\n\nc|d');
    expect(readLines(view, { top: 1, bottom: 3, left: 2, right: 2 }).map(({ row, left, right }) => [row, left, right])).toEqual([
      [1, 2, 2],
      [3, 2, 2],
    ]);
  });

  it('reaches over a merge, as far as the block does', () => {
    const { view } = readAll('a||||b', { merges: ['A1:D1'] });
    expect(readLines(view, { top: 1, bottom: 1, left: 1, right: 3 })[0]?.right).toBe(3);
  });

  it('does not take lines below each other for counting: that is a calendar', () => {
    expect(readAll('1|2|3|4\n5|6|7|8').lines.map((line) => line.counting)).toEqual([false, false]);
  });
});

describe('isBody', () => {
  it.each([
    ['a|b', true],
    ['5', true],
    ['a', false],
    ['東|東', false],
  ])('of %s is %s', (picture, body) => {
    const [line] = readAll(picture).lines;
    expect(line && isBody(line)).toBe(body);
  });
});

describe('profileColumns', () => {
  const { view, block, lines } = readAll(`
    りんご | '001 | 1    | 2020 | 未公表
    みかん | '002 | -    | 2021 | 未公表
    もも   | '003 | x    | 2022 | 未公表
    なし   | 9    | 4    | 2023 | 5
    かき   | 8    | 5    | 2024 | 6
  `);
  const profiles = profileColumns(view, block, lines);
  const which = (test: (profile: (typeof profiles)[number]) => boolean) => profiles.map(test);

  it('tells columns of names, of codes and of figures apart', () => {
    expect(which(isTextColumn)).toEqual([true, true, false, false, true]);
    expect(which(isNumericColumn)).toEqual([false, false, true, true, false]);
    expect(which(isColumnOfDigits)).toEqual([false, true, true, true, false]);
  });

  it('counts a text that comes again and again on rows with numbers', () => {
    const filler = view.grid.strings.indexOf('未公表');
    expect(profiles.map((profile) => isFiller(profile, filler))).toEqual([false, false, false, false, true]);
  });
});

describe('boundsOf', () => {
  it('is the smallest range around what is filled', () => {
    const { view } = readAll('\n|a\n||5\n');
    expect(boundsOf(readLines(view, { top: 1, left: 1, bottom: 50, right: 50 }))).toEqual({ top: 1, left: 2, bottom: 2, right: 3 });
    expect(boundsOf(readLines(view, { top: 40, left: 1, bottom: 50, right: 50 }))).toBeNull();
    expect(boundsOf([])).toBeNull();
  });
});
