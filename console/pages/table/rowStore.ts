import { api, ask, type Schemas } from '../../api/client.ts';
import { isProblem } from '../../api/problem.ts';

export type Row = Record<string, unknown>;
export const rowIdColumn = '__svc_row_id';
export const idOf = (row: Row): number => Number(row[rowIdColumn]);

export interface ChosenCell {
  rowId: number;
  column: string;
}

/** What is looked at: which rows, in which order, as of when. */
export interface View {
  filter: string;
  sort: string;
  /** A version number, or a label; empty: now. */
  at: string;
}

interface Page {
  rows: Row[];
  version: number;
  isStale: boolean;
}

const pageRows = 500;
/** As many as are kept: what was looked at long ago is read again. */
const keptPages = 80;

/**
 * The rows of a table, read page by page as they come into sight. What is shown stays until what replaces it is there.
 */
export class RowStore {
  rowCount = 0;
  columns: Schemas['ColumnDef'][] = [];
  masked = new Set<string>();
  version: number | null = null;
  error: unknown = null;
  isLoaded = false;
  revision = 0;
  private pages = new Map<number, Page>();
  private reading = new Set<number>();
  private listeners = new Set<() => void>();
  private shown: [number, number] = [0, 0];
  private isClosed = false;
  private sought: number | null = null;

  constructor(
    private readonly workbookId: string,
    private readonly name: string,
    private readonly view: View,
  ) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  snapshot = (): number => this.revision;

  close(): void {
    this.isClosed = true;
  }

  row(i: number): Row | undefined {
    return this.pages.get(Math.floor(i / pageRows))?.rows[i % pageRows];
  }

  /** The version that a row was read at: an edit of it is held against that. */
  versionOf(i: number): number {
    return this.pages.get(Math.floor(i / pageRows))?.version ?? this.version ?? 0;
  }

  findIndex(rowId: number): number | null {
    for (const [number, { rows }] of this.pages) {
      const i = rows.findIndex((row) => idOf(row) === rowId);
      if (i >= 0) return number * pageRows + i;
    }
    return null;
  }

  /** Looks for a row that is not here, and reads what stands around it. Its place is known where the rows are in their own order. */
  seek(rowId: number): void {
    if (this.sought === rowId || !this.isLoaded || this.view.sort !== '') return;
    this.sought = rowId;
    const before = `"${rowIdColumn}" < ${rowId}`;
    const filter = this.view.filter ? `(${this.view.filter}) AND ${before}` : before;
    this.readRows({ filter, limit: 1 }).then(
      (page) => this.isClosed || this.show(page.row_count, page.row_count),
      // It stays where it is.
      () => {},
    );
  }

  /** Rows of the first page, to guess widths by. */
  sample(): Row[] {
    return this.pages.get(0)?.rows ?? [];
  }

  /** Reads what comes into sight. */
  show(first: number, last: number): void {
    this.shown = [first, last];
    const from = Math.max(0, Math.floor(first / pageRows));
    const to = Math.floor(Math.max(first, last) / pageRows);
    for (let number = from; number <= to; number++) {
      const page = this.pages.get(number);
      if ((!page || page.isStale) && !this.reading.has(number)) void this.read(number);
    }
  }

  /** Somebody changed the table: what is in sight is read anew, the rest when it comes into sight. */
  refresh(): void {
    for (const page of this.pages.values()) page.isStale = true;
    this.show(...this.shown);
  }

  /** After an edit of ours on which nothing of others came between, what is here is the new version with these cells. */
  apply(edits: { rowId: number; column: string; value: unknown }[], version: number): void {
    const cells = new Map<number, Row>();
    for (const { rowId, column, value } of edits) cells.set(rowId, { ...cells.get(rowId), [column]: value });
    for (const page of this.pages.values()) {
      page.version = version;
      page.rows = page.rows.map((row) => (cells.has(idOf(row)) ? { ...row, ...cells.get(idOf(row)) } : row));
    }
    this.version = version;
    this.tell();
  }

  private async read(number: number): Promise<void> {
    this.reading.add(number);
    const { filter } = this.view;
    try {
      const page = await this.readRows({ limit: pageRows, offset: number * pageRows, ...(filter ? { filter } : {}) });
      if (!this.isClosed) this.take(number, page);
    } catch (error) {
      this.error = error;
      this.tell();
      if (isProblem(error, 'rate-limited')) setTimeout(() => this.refresh(), 5_000);
    } finally {
      this.reading.delete(number);
    }
  }

  private async readRows(query: { filter?: string; limit: number; offset?: number }): Promise<Schemas['RowsPage']> {
    const { sort, at } = this.view;
    const page = await ask(
      api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
        params: {
          path: { workbook_id: this.workbookId, name: this.name },
          query: {
            ...query,
            ...(sort ? { sort: sort.split(',') } : {}),
            ...(/^\d+$/.test(at) ? { at_version: Number(at) } : at ? { at } : {}),
          },
        },
      }),
    );
    return page as Schemas['RowsPage'];
  }

  private take(number: number, page: Schemas['RowsPage']): void {
    const isOther = this.version !== null && page.edit_version !== this.version;
    if (isOther) for (const [other, each] of this.pages) if (other !== number) each.isStale = true;
    this.version = page.edit_version;
    this.rowCount = page.row_count;
    this.columns = page.columns.filter(({ name }) => name !== rowIdColumn);
    this.masked = new Set(page.masked_columns);
    this.error = null;
    this.isLoaded = true;
    this.pages.delete(number);
    this.pages.set(number, { rows: page.rows as Row[], version: page.edit_version, isStale: false });
    for (const old of this.pages.keys()) {
      if (this.pages.size <= keptPages) break;
      this.pages.delete(old);
    }
    this.tell();
    if (isOther) this.show(...this.shown);
  }

  private tell(): void {
    this.revision += 1;
    for (const listener of this.listeners) listener();
  }
}
