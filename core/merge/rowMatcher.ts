/** The rows of a table in their order, as hashes below 2^53. */
export interface HashedRows {
  contents: Float64Array;
  /** Of the columns that tell rows apart; null if no columns do. */
  keys: Float64Array | null;
}

/** Rows without a twin that lie between the same neighbours, by position. */
interface Gap {
  before: number[];
  after: number[];
}

/** Hashes of the cells of a row that are compared, 0 for blank; null if they are not known. */
export type CellsOf = (position: number) => ArrayLike<number> | null;

/** Pairs of rows that are compared in one gap, at most. */
const mostPairs = 40_000;
/** A row is the same if at least this share of its cells is. Beyond half, it is more the old row than a new one. */
const leastShare = 0.5;

/**
 * Finds the rows of a table again in its new content: by their key if they have one, else by their content and that of their
 * neighbours. What is left between the same neighbours is compared by cell.
 */
export class RowMatcher {
  /** For each row of the new content the row that it was; -1: it is new. */
  readonly before: Int32Array;
  /** For each row of the old content the row that it is; -1: it is gone. */
  readonly after: Int32Array;
  private readonly isKeyed: boolean;

  constructor(before: HashedRows, after: HashedRows) {
    this.before = new Int32Array(after.contents.length).fill(-1);
    this.after = new Int32Array(before.contents.length).fill(-1);
    this.isKeyed = before.keys !== null && after.keys !== null;
    if (before.keys && after.keys) this.pairEqual(before.keys, after.keys);
    else {
      this.pairEqual(withNeighbours(before.contents), withNeighbours(after.contents));
      this.pairEqual(before.contents, after.contents);
    }
  }

  /** How many rows have no twin yet, if both sides have such rows. */
  countLeft(): number {
    const [gone, fresh] = [listLeft(this.after).length, listLeft(this.before).length];
    return gone === 0 || fresh === 0 ? 0 : gone + fresh;
  }

  listLeft(): { before: number[]; after: number[] } {
    return { before: listLeft(this.after), after: listLeft(this.before) };
  }

  /** Compares what lies behind the same row, then what lies before the same row. */
  compareGaps(cellsBefore: CellsOf, cellsAfter: CellsOf): void {
    for (const direction of ['behind', 'ahead'] as const)
      for (const { before, after } of this.listGaps(direction)) {
        const pairs = pairGap(before.map(cellsBefore), after.map(cellsAfter), this.isKeyed);
        for (const [b, a] of pairs) this.pair(before[b] ?? 0, after[a] ?? 0);
      }
  }

  private pair(before: number, after: number): void {
    this.before[after] = before;
    this.after[before] = after;
  }

  /** Rows of the same hash are the same in their order. */
  private pairEqual(before: Float64Array, after: Float64Array): void {
    const left = sortByHash(listLeft(this.after), before);
    const right = sortByHash(listLeft(this.before), after);
    for (let [i, k] = [0, 0]; i < left.length && k < right.length; ) {
      const [b, a] = [left[i] as number, right[k] as number];
      const difference = (before[b] as number) - (after[a] as number);
      if (difference === 0) this.pair(b, a);
      if (difference <= 0) i += 1;
      if (difference >= 0) k += 1;
    }
  }

  private listGaps(direction: 'behind' | 'ahead'): Gap[] {
    const gaps = new Map<number, Gap>();
    // A gap is known by the place that its neighbour has in the new content.
    const walk = (twins: Int32Array, put: (gap: Gap, position: number) => void, placeOf: (position: number) => number) => {
      let neighbour = -1;
      for (let step = 0; step < twins.length; step += 1) {
        const position = direction === 'behind' ? step : twins.length - 1 - step;
        if ((twins[position] as number) >= 0) {
          neighbour = placeOf(position);
          continue;
        }
        const gap = gaps.get(neighbour) ?? { before: [], after: [] };
        gaps.set(neighbour, gap);
        put(gap, position);
      }
    };
    const isOpen = this.countLeft() > 0;
    if (!isOpen) return [];
    walk(
      this.after,
      (gap, position) => gap.before.push(position),
      (position) => this.after[position] as number,
    );
    walk(
      this.before,
      (gap, position) => gap.after.push(position),
      (position) => position,
    );
    const both = [...gaps.values()].filter(({ before, after }) => before.length > 0 && after.length > 0);
    const inOrder = (positions: number[]) => (direction === 'behind' ? positions : positions.reverse());
    return both.map(({ before, after }) => ({ before: inOrder(before), after: inOrder(after) }));
  }
}

function listLeft(twins: Int32Array): number[] {
  const left: number[] = [];
  for (let position = 0; position < twins.length; position += 1) if ((twins[position] as number) < 0) left.push(position);
  return left;
}

function sortByHash(positions: number[], hashes: Float64Array): number[] {
  return positions.sort((a, b) => (hashes[a] as number) - (hashes[b] as number) || a - b);
}

/** Tells rows of the same content apart by the rows around them. */
function withNeighbours(contents: Float64Array): Float64Array {
  return contents.map((content, position) => mix(contents[position - 1] ?? 0, content, contents[position + 1] ?? 0));
}

function mix(...hashes: number[]): number {
  let [low, high] = [0x811c9dc5, 0x9e3779b9];
  for (const hash of hashes)
    for (const word of [hash >>> 0, Math.floor(hash / 2 ** 32)]) {
      low = Math.imul(low ^ word, 0x01000193);
      high = Math.imul((high ^ word) + (low >>> 15), 0x85ebca6b);
    }
  return ((high >>> 11) * 2 ** 32 + (low >>> 0)) % 2 ** 53;
}

type Cells = ArrayLike<number> | null;

/** Which rows of a gap are the same, without changing their order. Where cells are not compared, as many rows as before are the same. */
function pairGap(before: Cells[], after: Cells[], isKeyed: boolean): [number, number][] {
  const isSmall = before.length * after.length <= mostPairs && before.every(Boolean) && after.every(Boolean);
  if (!isSmall) return isKeyed || before.length !== after.length ? [] : before.map((_, i): [number, number] => [i, i]);
  const pairs = alignGap(before as ArrayLike<number>[], after as ArrayLike<number>[], isKeyed);
  return isKeyed ? pairs : fillByPlace(pairs, before as ArrayLike<number>[], after as ArrayLike<number>[]);
}

/** The pairs with the greatest sum of likeness, in order. */
function alignGap(before: ArrayLike<number>[], after: ArrayLike<number>[], isKeyed: boolean): [number, number][] {
  const width = after.length + 1;
  const best = new Float64Array((before.length + 1) * width);
  const at = (i: number, k: number) => best[i * width + k] as number;
  const likeness = (i: number, k: number) => weigh(before[i] as ArrayLike<number>, after[k] as ArrayLike<number>, isKeyed);
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let k = after.length - 1; k >= 0; k -= 1) {
      const alike = likeness(i, k);
      best[i * width + k] = Math.max(at(i + 1, k), at(i, k + 1), alike > 0 ? alike + at(i + 1, k + 1) : 0);
    }
  const pairs: [number, number][] = [];
  for (let [i, k] = [0, 0]; i < before.length && k < after.length; ) {
    const alike = likeness(i, k);
    if (alike > 0 && at(i, k) === alike + at(i + 1, k + 1)) pairs.push([i++, k++]);
    else if (at(i, k) === at(i + 1, k)) i += 1;
    else k += 1;
  }
  return pairs;
}

/** The share of cells that are the same; 0 if it is too small. Of a row with another key all others must be, and several. */
function weigh(before: ArrayLike<number>, after: ArrayLike<number>, isKeyed: boolean): number {
  let [same, filled] = [0, 0];
  for (let k = 0; k < before.length; k += 1) {
    if (before[k] === 0 && after[k] === 0) continue;
    filled += 1;
    if (before[k] === after[k]) same += 1;
  }
  if (isKeyed) return same === filled && same > 1 ? 1 : 0;
  return filled > 0 && same / filled >= leastShare ? same / filled : 0;
}

/** Between two pairs, as many rows as before are the same by their places, if they have a cell in common or only one at all. */
function fillByPlace(pairs: [number, number][], before: ArrayLike<number>[], after: ArrayLike<number>[]): [number, number][] {
  const filled: [number, number][] = [];
  let [i, k] = [0, 0];
  for (const [b, a] of [...pairs, [before.length, after.length] as [number, number]]) {
    if (b - i === a - k) for (; i < b; i += 1, k += 1) if (sharesCell(before[i], after[k])) filled.push([i, k]);
    if (b < before.length) filled.push([b, a]);
    [i, k] = [b + 1, a + 1];
  }
  return filled;
}

function sharesCell(before: ArrayLike<number> = [], after: ArrayLike<number> = []): boolean {
  if (before.length === 1) return true;
  for (let k = 0; k < before.length; k += 1) if (before[k] !== 0 && before[k] === after[k]) return true;
  return false;
}

/** Neighbouring rows whose ids follow each other. */
export type IdRun = [firstId: number, rows: number];

/** The ids of the new rows: those that they had, and from `freshId` on for those that are new. */
export function listIdRuns(matcher: RowMatcher, idsBefore: ArrayLike<number>, freshId: number): IdRun[] {
  const runs: IdRun[] = [];
  let fresh = freshId;
  for (const before of matcher.before) {
    const id = before < 0 ? fresh++ : (idsBefore[before] as number);
    const last = runs.at(-1);
    if (last && last[0] + last[1] === id) last[1] += 1;
    else runs.push([id, 1]);
  }
  return runs;
}
