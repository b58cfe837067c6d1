import { describe, expect, it } from 'vitest';
import { drawSheet } from './picture.ts';

const view = drawSheet('a|||d\n\n||c|d', { ruled: ['A1:D2'] });
const { frames } = view;

describe('Frames.isRuled', () => {
  it.each([
    [1, 2, 3, true],
    [2, 1, 4, true],
    // The cell at its edge is filled, so it is no blank one.
    [1, 1, 3, false],
    // Beyond the lines that were drawn.
    [2, 1, 5, false],
    [3, 1, 2, false],
  ])('row %d from column %d to %d: %s', (row, left, right, ruled) => expect(frames.isRuled(row, left, right)).toBe(ruled));
});

describe('Frames.verticals', () => {
  it('counts the lines of filled and of blank cells, within the block', () => {
    expect([...frames.verticals(1, 1, 4, [0, 2])].sort()).toEqual([1, 2, 3, 4, 5]);
    expect([...frames.verticals(2, 2, 3, [0, 0])].sort()).toEqual([2, 3, 4]);
    expect([...frames.verticals(3, 1, 4, [2, 4])]).toEqual([]);
  });
});

describe('Frames.runsThrough', () => {
  it.each([
    [
      'three lines in every row',
      [
        [1, 2, 3, 4],
        [2, 3, 4],
      ],
      true,
    ],
    [
      'two lines, as of a box around a page',
      [
        [1, 5],
        [1, 5],
      ],
      false,
    ],
    [
      'three lines of which one ends',
      [
        [1, 2, 3],
        [1, 2, 4],
      ],
      false,
    ],
    ['no row', [], false],
  ])('%s: %s', (_, rows, expected) => expect(frames.runsThrough(rows.map((row) => new Set(row)))).toBe(expected));
});

describe('SheetView.isFramed', () => {
  it.each([
    [1, 2, true],
    [1, 3, false],
  ])('rows %d to %d: %s', (from, to, framed) => expect(view.isFramed(from, to, 1, 4)).toBe(framed));
});
