import { countLookup } from './cacheCounts.ts';

/** The rows of small results as text, kept in memory for those that are read again. Results never change. */
export class ResultRows {
  /** In the order of their last use. */
  private readonly texts = new Map<string, string>();
  private length = 0;

  constructor(private readonly load: (id: string) => Promise<Buffer | null>) {}

  /** Null: the result is gone. Whether it may be read is for the caller to decide. */
  async read(id: string): Promise<string | null> {
    const known = this.texts.get(id);
    countLookup('result_rows', known === undefined ? 'miss' : 'hit');
    if (known !== undefined) {
      this.texts.delete(id);
      this.texts.set(id, known);
      return known;
    }
    const text = (await this.load(id))?.toString('utf8') ?? null;
    if (text !== null) this.keep(id, text);
    return text;
  }

  private keep(id: string, text: string): void {
    if (this.texts.has(id)) return;
    this.texts.set(id, text);
    this.length += text.length;
    for (const [oldest, old] of this.texts) {
      if (this.length <= mostLength) return;
      this.texts.delete(oldest);
      this.length -= old.length;
    }
  }
}

/** Characters of all texts; each takes one byte or two. */
const mostLength = 16 * 1024 * 1024;
