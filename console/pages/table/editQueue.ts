import { api, ask } from '../../api/client.ts';
import { isProblem, Problem } from '../../api/problem.ts';
import type { Row } from './rowStore.ts';

export interface CellEdit {
  rowId: number;
  column: string;
  value: unknown;
  /** What stood there when it was changed. */
  before: unknown;
}

export interface Batch {
  /** Sent again after a lost connection, it has its effect once. */
  key: string;
  expectedVersion: number;
  edits: CellEdit[];
  inserts: Row[];
}

export interface Saved {
  batch: Batch;
  version: number;
  opId: number;
  /** Whether others have changed something since the version that was expected. */
  isAlone: boolean;
}

type State = 'saved' | 'saving' | 'held';

/**
 * Edits on their way to the service, one after the other. What cannot be saved is held, shown, and kept over a reload, until it
 * is sent again or thrown away.
 */
export class EditQueue {
  state: State = 'saved';
  error: unknown = null;
  revision = 0;
  private waiting: Batch[];
  private listeners = new Set<() => void>();
  /** Versions that our own edits have led to, by the version before. */
  private ownSteps = new Map<number, number>();

  constructor(
    private readonly workbookId: string,
    private readonly name: string,
    private readonly onSaved: (saved: Saved) => void,
  ) {
    this.waiting = this.load();
    if (this.waiting.length > 0) this.state = 'held';
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  snapshot = (): number => this.revision;

  get count(): number {
    return this.waiting.reduce((sum, { edits, inserts }) => sum + edits.length + inserts.length, 0);
  }

  /** The value that waits for a cell. */
  pending(rowId: number, column: string): CellEdit | undefined {
    for (const { edits } of this.waiting.toReversed()) {
      const found = edits.find((edit) => edit.rowId === rowId && edit.column === column);
      if (found) return found;
    }
    return undefined;
  }

  /** The batch that somebody else's change stands against. */
  get conflict(): { batch: Batch; problem: Problem } | null {
    const [batch] = this.waiting;
    return batch && this.state === 'held' && isProblem(this.error, 'version-conflict') ? { batch, problem: this.error } : null;
  }

  add(expectedVersion: number, edits: CellEdit[], inserts: Row[] = []): void {
    if (edits.length + inserts.length === 0) return;
    const isRefused = this.state === 'held' && isProblem(this.error, 'validation-failed');
    if (isRefused) this.replace(edits);
    this.waiting.push({ key: crypto.randomUUID(), expectedVersion, edits, inserts });
    this.changed();
    if (this.state === 'saved' || isRefused) void this.send();
  }

  /** Cells that did not fit were written anew. A batch that was refused has had no effect, so it may be another one. */
  private replace(edits: CellEdit[]): void {
    const isNew = ({ rowId, column }: CellEdit) => edits.some((edit) => edit.rowId === rowId && edit.column === column);
    for (const batch of this.waiting) {
      const left = batch.edits.filter((edit) => !isNew(edit));
      if (left.length < batch.edits.length) Object.assign(batch, { edits: left, key: crypto.randomUUID() });
    }
    this.waiting = this.waiting.filter(({ edits: left, inserts }) => left.length + inserts.length > 0);
  }

  retry(): void {
    if (this.state === 'held') void this.send();
  }

  /** The first batch again, on the version that is there now: ours wins. */
  sendAnyway(): void {
    const [batch] = this.waiting;
    const current = this.error instanceof Problem ? Number(this.error.document.current_version) : Number.NaN;
    if (!batch || !Number.isFinite(current)) return;
    Object.assign(batch, { expectedVersion: current, key: crypto.randomUUID() });
    void this.send();
  }

  /** Throws the first batch away; the rest is sent. */
  dropFirst(): void {
    this.waiting.shift();
    this.error = null;
    this.state = 'saved';
    this.changed();
    if (this.waiting.length > 0) void this.send();
  }

  dropAll(): void {
    this.waiting = [];
    this.error = null;
    this.state = 'saved';
    this.changed();
  }

  private async send(): Promise<void> {
    this.state = 'saving';
    this.error = null;
    this.changed();
    for (let batch = this.waiting[0]; batch; batch = this.waiting[0]) {
      try {
        const expected = this.follow(batch.expectedVersion);
        const result = await this.post(batch, expected);
        const isAlone = result.edit_version === expected + 1;
        if (isAlone) this.ownSteps.set(expected, result.edit_version);
        this.waiting.shift();
        this.onSaved({ batch, version: result.edit_version, opId: result.op_id, isAlone });
      } catch (error) {
        this.error = error;
        this.state = 'held';
        this.changed();
        return;
      }
    }
    this.state = 'saved';
    this.changed();
  }

  private post({ edits, inserts, key }: Batch, expected: number) {
    const byRow = new Map<number, Row>();
    for (const { rowId, column, value } of edits) byRow.set(rowId, { ...byRow.get(rowId), __svc_row_id: rowId, [column]: value });
    return ask(
      api.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
        params: { path: { workbook_id: this.workbookId, name: this.name }, header: { 'Idempotency-Key': key } },
        body: { expected_version: expected, rows: [...byRow.values(), ...inserts], rebase: true },
      }),
    );
  }

  private follow(version: number): number {
    let last = version;
    for (let next = this.ownSteps.get(last); next !== undefined; next = this.ownSteps.get(last)) last = next;
    return last;
  }

  private changed(): void {
    this.revision += 1;
    if (this.waiting.length === 0) sessionStorage.removeItem(this.storageKey);
    else sessionStorage.setItem(this.storageKey, JSON.stringify(this.waiting));
    for (const listener of this.listeners) listener();
  }

  private load(): Batch[] {
    try {
      return JSON.parse(sessionStorage.getItem(this.storageKey) ?? '[]') as Batch[];
    } catch {
      return [];
    }
  }

  private get storageKey(): string {
    return `console.edits.${this.workbookId}.${this.name}`;
  }
}
