import type { DuckDBConnection } from '@duckdb/node-api';
import type { QueryColumn } from './describeQuery.ts';

/**
 * Rows that are read in parts of bounded size. The engine works on some 2,000 rows at once, however long they are, and what it
 * makes of them is not under its limit of memory: so rows are measured first, and long ones are read a few at a time.
 */
export interface RowSource<Span> {
  columns: QueryColumn[];
  /** Some thousand rows each. */
  spans: Iterable<Span>;
  /** Opens the rows of a span as a FROM expression. */
  open(connection: DuckDBConnection, span: Span): Promise<{ from: string; release(): Promise<void> }>;
  select(from: string, span: Span): string;
  /** SQL for what tells a row from others in its span, in ascending order. Null: rows are in the order of the FROM expression. */
  place: string | null;
  /** SQL for the length of each long value of a row. */
  lengths: string[];
  /** Places of a span's rows in its own order, if that is not ascending. */
  arrange?(span: Span): number[];
  /** Divides a span into parts of so many rows each; `places` are those of all its rows, in order. */
  divide(span: Span, counts: number[], places: number[]): Span[];
  /** A reader of any row has many MB of others in memory. */
  hasHeavyGroups?: boolean;
  /** Thrown for rows of more than `most.bytes` in all. */
  most?: { bytes: number; refuse(): Error };
  /** Called once, when nothing is read any more. */
  close?(): void | Promise<void>;
}

export interface RowPart {
  sql: string;
  rows: number;
  /** The length of its long values. */
  bytes: number;
  release(): Promise<void>;
}

interface Group {
  rows: number;
  bytes: number;
}

interface Measured<Span> extends Group {
  span: Span;
}

/** Opens one part after the other, each on any connection. */
export class PartOpener<Span> {
  private readonly spans: Iterator<Span>;
  private readonly coming: Measured<Span>[] = [];
  private bytes = 0;

  constructor(
    private readonly source: RowSource<Span>,
    private readonly partBytes: number,
  ) {
    this.spans = source.spans[Symbol.iterator]();
  }

  get hasHeavyGroups(): boolean {
    return this.source.hasHeavyGroups ?? false;
  }

  /** Null at the end. */
  async next(connection: DuckDBConnection): Promise<RowPart | null> {
    const known = this.coming.shift();
    if (known) return this.describe(known, await this.source.open(connection, known.span));
    const next = this.spans.next();
    if (next.done) return null;
    const opened = await this.source.open(connection, next.value);
    try {
      const parts = await this.measure(connection, next.value, opened.from);
      if (parts.length === 1) return this.describe(parts[0] as Measured<Span>, opened);
      this.coming.push(...parts);
    } catch (error) {
      await opened.release();
      throw error;
    }
    await opened.release();
    return this.next(connection);
  }

  private describe({ span, rows, bytes }: Measured<Span>, opened: { from: string; release(): Promise<void> }): RowPart {
    return { sql: this.source.select(opened.from, span), rows, bytes, release: opened.release };
  }

  private async measure(connection: DuckDBConnection, span: Span, from: string): Promise<Measured<Span>[]> {
    const { lengths, place, most } = this.source;
    const length = lengths.join(' + ') || '0';
    const [[rows, bytes] = [0, 0]] = await readNumbers(connection, `SELECT count(*), coalesce(sum(${length}), 0) FROM ${from}`);
    this.bytes += bytes as number;
    if (most && this.bytes > most.bytes) throw most.refuse();
    if ((bytes as number) <= this.partBytes) return [{ span, rows: rows as number, bytes: bytes as number }];
    const order = place === null ? '' : ` ORDER BY ${place}`;
    const measured = (await readNumbers(connection, `SELECT ${place ?? '0'}, ${length} FROM ${from}${order}`)) as [number, number][];
    const places = this.source.arrange?.(span) ?? measured.map(([at]) => at);
    const sizeOf = new Map(measured);
    const sizes = place === null ? measured.map(([, size]) => size) : places.map((at) => sizeOf.get(at) ?? 0);
    const groups = groupSizes(sizes, this.partBytes);
    const divided = this.source.divide(
      span,
      groups.map((group) => group.rows),
      places,
    );
    return divided.map((part, i) => ({ span: part, ...(groups[i] as Group) }));
  }
}

async function readNumbers(connection: DuckDBConnection, sql: string): Promise<number[][]> {
  const reader = await connection.runAndReadAll(`SELECT CAST(COLUMNS(*) AS DOUBLE) FROM (${sql})`);
  return reader.getRows() as number[][];
}

/** Neighbours that come to no more than `most` together; one that is larger stands alone. */
function groupSizes(sizes: number[], most: number): Group[] {
  const groups: Group[] = [];
  for (const size of sizes) {
    const last = groups.at(-1);
    if (last && last.bytes + size <= most) {
      last.rows += 1;
      last.bytes += size;
    } else groups.push({ rows: 1, bytes: size });
  }
  return groups;
}

const short = /^(BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\b.*|DATE|TIME\b.*|TIMESTAMP\b.*|INTERVAL|UUID)$/;

/** SQL for the length of a value as text; none for types whose values are short. */
export function valueLength(value: string, type: string): string[] {
  return short.test(type) ? [] : [`coalesce(strlen(CAST(${value} AS VARCHAR)), 0)`];
}
