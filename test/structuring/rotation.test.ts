import { describe, expect, it } from 'vitest';
import { chooseThreshold, type Judged, rotate, weighThreshold } from '../rotation/doubt.ts';
import { isMostlyRight, matchTables, scoreF1 } from '../rotation/match.ts';
import { assignParts, PARTS } from '../rotation/templates.ts';
import { addTotals, countTotals } from '../rotation/totals.ts';

const sheet = (part: number, confidence: number | null, isRight: boolean): Judged => ({ part, confidence, isRight });

describe('assignParts', () => {
  const make = (book: string, texts: string[]) => ({ book, sheet: 'S', texts: new Set(texts) });
  const words = ['a', 'b', 'c', 'd', 'e', 'f'];

  it('keeps sheets of one book and of one template together, whatever their names', () => {
    const strangers = Array.from({ length: 40 }, (_, n) => make(`other${n}`, [`x${n}`]));
    const parts = assignParts([make('one', words), make('two', [...words.slice(0, 3), '1', '2', '3']), make('one', ['z']), ...strangers]);
    expect(parts[1]).toBe(parts[0]);
    expect(parts[2]).toBe(parts[0]);
    expect(new Set(parts).size).toBe(PARTS);
  });
});

describe('matchTables', () => {
  it.each([
    [['A1:D9'], ['A3:D9'], true, 1],
    [['A1:D9'], ['A4:D9'], true, 0],
    [['A1:D9', 'A2:D9'], ['A1:D9'], true, 1],
  ])('%j against %j: complete %s, found %i', (wanted, given, complete, found) => {
    expect(matchTables(wanted, given, complete).found).toBe(found);
  });

  it('does not count tables that nobody labelled where not all are', () => {
    expect(matchTables(['A1:D9'], ['A1:D9', 'H1:K9'], false)).toEqual({ found: 1, wanted: 1, given: 1 });
    expect(matchTables(['A1:D9'], ['A1:D9', 'H1:K9'], true).given).toBe(2);
  });

  it.each([
    [1, 2, 2, true],
    [1, 3, 2, false],
    [0, 1, 0, false],
  ])('%i of %i with %i given is mostly right: %s', (found, wanted, given, expected) => {
    expect(isMostlyRight({ found, wanted, given })).toBe(expected);
  });

  it('F1 counts what is there and what was given', () => {
    expect(
      scoreF1([
        { found: 1, wanted: 1, given: 1 },
        { found: 0, wanted: 1, given: 1 },
      ]),
    ).toBe(0.5);
  });
});

describe('rotate', () => {
  it('weighs what is missed against all sheets and alarms against the right ones', () => {
    const sheets = [sheet(0, 0.9, true), sheet(0, 0.5, true), sheet(0, 0.4, false), sheet(0, 0.8, false), sheet(0, null, false)];
    expect(weighThreshold(sheets, 0.6)).toEqual({ sheets: 5, wrong: 3, missed: 1 / 5, alarmed: 1 / 2, deserved: 2 / 3 });
  });

  it('chooses the lowest threshold that misses least without too many alarms', () => {
    const right = Array.from({ length: 20 }, (_, n) => sheet(0, 0.5 + n / 50, true));
    // Above 0.55 a third right sheet of twenty would be flagged.
    expect(chooseThreshold([...right, sheet(0, 0.3, false), sheet(0, 0.7, false)])).toBe(0.31);
  });

  it('scores each part with what was chosen on the others', () => {
    const parts = Array.from({ length: PARTS }, (_, part) => part);
    const usual = parts.slice(1).flatMap((part) => [sheet(part, 0.9, true), sheet(part, 0.2, false)]);
    // By its own part 0.75 would be best; the others have not seen it.
    const { parts: found, all } = rotate([...usual, sheet(0, 0.9, true), sheet(0, 0.7, false)]);
    expect(found[0]?.threshold).toBe(0.21);
    expect(found[0]?.cost.missed).toBe(0.5);
    expect(all.missed).toBe(0.1);
  });
});

describe('countTotals', () => {
  const region = (range: string, totals: [at: number | string, kind: 'total' | 'subtotal' | 'computed'][]) => ({
    range,
    totals: totals.map(([at, kind]) => ({ at, kind, formula: null })),
  });
  const regions = [
    region('A1:D9', [
      [5, 'subtotal'],
      [8, 'computed'],
      [9, 'total'],
      ['D', 'total'],
    ]),
    region('H1:K9', [[3, 'total']]),
  ];

  it('counts sums, and sums with other computed rows, of the tables that are labelled', () => {
    const tables = [
      { range: 'A1:D9', total_rows: [5, 8] },
      { range: 'H1:K9', total_rows: null },
    ];
    expect(countTotals(tables, regions)).toEqual({ wanted: 2, sums: 2, foundSums: 1, computed: 3, foundComputed: 2 });
  });

  it('leaves out what counts neither way', () => {
    const counts = countTotals([{ range: 'A1:D9', total_rows: [5], computed_rows: [8, 9] }], regions);
    expect(addTotals([counts, counts])).toEqual({ wanted: 2, sums: 2, foundSums: 2, computed: 2, foundComputed: 2 });
  });
});
