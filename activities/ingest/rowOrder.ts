import type { IdRun } from '../../core/merge/rowMatcher.ts';

/** The rows of a table that is written, by id: files have them in that order. */
export class RowOrder {
  /** What is subtracted from the id of a row where rows are counted. */
  readonly rowBase: number;
  private readonly ids: Float64Array | null = null;
  private readonly positions: Uint32Array | null = null;

  /** @param runs the ids in the order of the rows; without, they follow `rowBase`. */
  constructor(
    readonly count: number,
    rowBase: number,
    runs?: IdRun[],
  ) {
    this.rowBase = runs ? 0 : rowBase;
    if (!runs) return;
    const ids = new Float64Array(count);
    let position = 0;
    for (const [first, rows] of runs) for (let n = 0; n < rows; n += 1) ids[position++] = first + n;
    if (position !== count) throw new Error(`${position} ids for ${count} rows`);
    this.ids = ids;
    this.positions = Uint32Array.from(ids.keys()).sort((a, b) => (ids[a] as number) - (ids[b] as number));
  }

  idOf(position: number): number {
    return this.ids ? (this.ids[position] as number) : this.rowBase + position + 1;
  }

  /** The number of a row, as provenance and kept formulas name it. */
  numberOf(position: number): number {
    return this.idOf(position) - this.rowBase;
  }

  /** The position of the n-th row by id, from 0. */
  positionAt(n: number): number {
    return this.positions ? (this.positions[n] as number) : n;
  }

  idAt(n: number): number {
    return this.idOf(this.positionAt(n));
  }
}
