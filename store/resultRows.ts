import { countLookup } from './cacheCounts.ts';

/** The rows of small results, kept in memory for those that are read again. Results never change. */
export class ResultRows {
  /** In the order of their last use. */
  private readonly kept = new Map<string, Buffer>();
  private bytes = 0;

  constructor(private readonly load: (id: string) => Promise<Buffer | null>) {}

  /** Null: the result is gone. Whether it may be read is for the caller to decide. */
  async read(id: string): Promise<Buffer | null> {
    const known = this.kept.get(id);
    countLookup('result_rows', known === undefined ? 'miss' : 'hit');
    if (known !== undefined) {
      this.kept.delete(id);
      this.kept.set(id, known);
      return known;
    }
    const rows = await this.load(id);
    if (rows !== null) this.keep(id, rows);
    return rows;
  }

  private keep(id: string, rows: Buffer): void {
    if (this.kept.has(id)) return;
    this.kept.set(id, rows);
    this.bytes += rows.length;
    for (const [oldest, old] of this.kept) {
      if (this.bytes <= mostBytes) return;
      this.kept.delete(oldest);
      this.bytes -= old.length;
    }
  }
}

const mostBytes = 16 * 1024 * 1024;
