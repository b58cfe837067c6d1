import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listIdRuns, RowMatcher } from '../../../core/merge/rowMatcher.ts';

type Row = (string | null)[];

const hashes = new Map<string | null, number>([[null, 0]]);
const hashOf = (text: string | null) => {
  const known = hashes.get(text) ?? hashes.size;
  hashes.set(text, known);
  return known;
};
const side = (rows: Row[], key: number) => ({
  contents: Float64Array.from(rows, (row) => hashOf(`row ${JSON.stringify(row)}`)),
  keys: key > 0 ? Float64Array.from(rows, (row) => hashOf(`key ${JSON.stringify(row.slice(0, key))}`)) : null,
});

/** For each new row the number of the old row that it is; -1: none. */
function match(before: Row[], after: Row[], key = 0): number[] {
  const matcher = new RowMatcher(side(before, key), side(after, key));
  const cellsOf = (rows: Row[]) => (position: number) => (rows[position] as Row).slice(key).map(hashOf);
  matcher.compareGaps(cellsOf(before), cellsOf(after));
  return [...matcher.before];
}

const table = (text: string): Row[] => text.split('/').map((row) => row.trim().split(' '));

describe('rows are the same', () => {
  it.each<[what: string, before: string, after: string, expected: number[], key?: number]>([
    ['as they are', 'a 1 x/b 2 y', 'a 1 x/b 2 y', [0, 1]],
    ['elsewhere', 'a 1 x/b 2 y/c 3 z', 'c 3 z/a 1 x/b 2 y', [2, 0, 1]],
    ['beside new ones', 'a 1 x/b 2 y', 'n 9 w/a 1 x/m 8 v/b 2 y', [-1, 0, -1, 1]],
    ['with another cell', 'a 1 x/b 2 y/c 3 z', 'a 1 x/b 5 y/c 3 z', [0, 1, 2]],
    ['with another cell beside a new one', 'a 1 x/b 2 y/c 3 z', 'a 1 x/n 9 w/b 5 y/c 3 z', [0, -1, 1, 2]],
    ['where one beside it is gone and another came', 'a 1 x/b 2 y/c 3 z', 'b 5 y/n 9 w/c 3 z', [1, -1, 2]],
    ['behind one that moved away', 'a 1 x/b 2 y/c 3 z/d 4 w', 'b 5 y/c 3 z/d 4 w/a 1 x', [1, 2, 3, 0]],
    ['but not with no cell in common', 'a 1 x/b 2 y/c 3 z', 'a 1 x/n 9 w/c 3 z', [0, -1, 2]],
    ['with the only cell that they have', 'a/b/c', 'a/x/c', [0, 1, 2]],
    ['by their neighbours, if there are others like them', 'p/a/q/a/r', 'a/q/a/r', [1, 2, 3, 4]],
    ['the first and the last, if nothing else tells them apart', 'a/a/a', 'a/a', [0, 2]],
    ['by their key, whatever else changed', 'a 1 x/b 2 y', 'b 7 w/a 9 v', [1, 0], 1],
    ['with another key, if all else is the same', 'a 1 x/b 2 y/c 3 z', 'a 1 x/bb 2 y/c 3 z', [0, 1, 2], 1],
    ['but not with another key and something else', 'a 1 x/b 2 y/c 3 z', 'a 1 x/bb 2 w/c 3 z', [0, -1, 2], 1],
  ])('%s', (_, before, after, expected, key) => {
    expect(match(table(before), table(after), key)).toEqual(expected);
  });

  const columns = 4;
  /** Rows whose cells no other row has, so that there is no doubt which is which. */
  const original = (count: number): Row[] =>
    Array.from({ length: count }, (_, n) => Array.from({ length: columns }, (_, k) => `${n}.${k}`));
  type Step = { what: 'insert' | 'delete' | 'move' | 'change'; at: number; to: number; column: number };
  const steps = (...kinds: Step['what'][]) =>
    fc.array(fc.record({ what: fc.constantFrom(...kinds), at: fc.nat(1_000), to: fc.nat(1_000), column: fc.nat(columns - 1) }), {
      maxLength: 12,
    });

  /** What a person does to the file, and which row each row was before. */
  function edit(rows: Row[], edits: Step[], key: number): { rows: Row[]; was: number[] } {
    const now = rows.map((row, n) => ({ row: [...row], was: n, changed: 0 }));
    for (const [n, { what, at, to, column }] of edits.entries()) {
      const place = at % Math.max(1, now.length);
      if (what === 'insert')
        now.splice(at % (now.length + 1), 0, {
          row: original(1)
            .flat()
            .map((_, k) => `new ${n}.${k}`),
          was: -1,
          changed: 0,
        });
      else if (what === 'delete') now.splice(place, 1);
      else if (what === 'move') now.splice(to % Math.max(1, now.length), 0, ...now.splice(place, 1));
      else {
        const target = now[place];
        if (!target || target.was < 0 || column < key) continue;
        // A row is hardly the same once most of it is another.
        if (key === 0 && target.changed >= columns / 2) continue;
        target.changed += 1;
        target.row[column] = `changed ${n}`;
      }
    }
    return { rows: now.map(({ row }) => row), was: now.map(({ was }) => was) };
  }

  const hold = (kinds: Step['what'][], key: number) =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 25 }), steps(...kinds), (count, edits) => {
        const before = original(count);
        const { rows, was } = edit(before, edits, key);
        expect(match(before, rows, key)).toEqual(was);
      }),
      { numRuns: 300 },
    );

  it('whatever rows come, go and move, without a key', () => hold(['insert', 'delete', 'move'], 0));
  it('whatever rows come, go and change, without a key', () => hold(['insert', 'delete', 'change'], 0));
  it('whatever happens to them, with a key', () => hold(['insert', 'delete', 'move', 'change'], 1));

  it('and keep their ids; new ones get ids behind all others', () => {
    const before = table('a 1 x/b 2 y/c 3 z');
    const after = table('n 9 w/b 2 y/c 3 z/m 8 v/a 1 x');
    const matcher = new RowMatcher(side(before, 0), side(after, 0));
    expect(listIdRuns(matcher, [11, 12, 13], 40)).toEqual([
      [40, 1],
      [12, 2],
      [41, 1],
      [11, 1],
    ]);
  });
});
