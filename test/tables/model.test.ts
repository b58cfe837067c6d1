import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareAddColumn, prepareDropColumn, prepareRenameColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange, type PreparedColumnChange } from '../../activities/columns/openColumn.ts';
import { prepareRetypeColumn } from '../../activities/columns/retypeColumn.ts';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { diffTable } from '../../activities/rows/diffTable.ts';
import { readRowHistory } from '../../activities/rows/rowHistory.ts';
import { applyUndo, prepareUndo } from '../../activities/rows/undoOp.ts';
import { commitSnapshot } from '../../activities/snapshots/commitSnapshot.ts';
import { planRestore } from '../../activities/snapshots/planRestore.ts';
import { restoreSnapshot } from '../../activities/snapshots/restoreSnapshot.ts';
import { requireTableAt } from '../../activities/tables/openTable.ts';
import { openVisibleHistory } from '../../activities/tables/openVisibleTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { openTailFiles } from '../../store/duckdb/tailFiles.ts';
import type { SnapshotRecord } from '../../store/pg/snapshots.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { ok } from '../setup/api.ts';
import { type ModelColumn, TableModel } from './model.ts';
import { openTestStore, type TestStore } from './store.ts';

let store: TestStore;
let tailFiles = 0;

/** Every tail that is read twice becomes a file, and every later version is read over it. */
function useTailFiles({ services }: TestStore): void {
  const eagerTails = openTailFiles(
    services.engine,
    () => mkdtemp(join(tmpdir(), 'svc-test-tails-')),
    (error) => expect.unreachable(String(error)),
    { worthwhile: 0, since: 1e9 },
  );
  const usual = services.tails;
  services.tails = {
    ...eagerTails,
    find(at) {
      const file = eagerTails.find(at);
      tailFiles += file ? 1 : 0;
      return file;
    },
    async close() {
      await Promise.all([eagerTails.close(), usual.close()]);
    },
  };
}

beforeAll(async () => {
  store = await openTestStore();
  useTailFiles(store);
});
afterAll(() => store.stop());

const small = fc.integer({ min: 1, max: 8 });
const large = fc.integer({ min: 1001, max: 1040 });
const pick = fc.nat(10_000);
const text = fc.constantFrom('', 'x', '日本語', 'a,"b"\n', '\\N', "o'k", null);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('insert' as const), count: small, text }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('insert' as const), count: large, text }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('update' as const), count: small, from: pick, text }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('update' as const), count: large, from: pick, text }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), count: small, from: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), count: large, from: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('addColumn' as const),
      type: fc.constantFrom('BIGINT' as const, 'VARCHAR' as const),
      value: fc.option(fc.integer()),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renameColumn' as const), which: pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retypeColumn' as const), which: pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('dropColumn' as const), which: pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('restore' as const), which: pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('freeze' as const), edit: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('compact' as const), edit: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const quiet = { heartbeat() {} };
const eager = { ...compactionLimits, tail: 0, deltas: 1e9, deltaShare: 1e9, files: 1e9, moved: 1 };
const thorough = { ...compactionLimits, tail: 0, deltas: 1, fileRows: 400, moved: 1 };

let moves = 0;
let retypes = 0;

/** One table in a workbook of its own, and what it should be. */
class Run {
  readonly model = new TableModel([
    { name: 'a', type: 'BIGINT' },
    { name: 'b', type: 'VARCHAR' },
  ]);
  private readonly snapshots: { record: SnapshotRecord; version: number }[] = [];
  private names = 0;

  private constructor(
    private readonly store: TestStore,
    readonly tableId: string,
  ) {}

  static async start(): Promise<Run> {
    const own = await store.another();
    return new Run(
      own,
      await own.makeTable('t', [
        { name: 'a', type: 'BIGINT' },
        { name: 'b', type: 'VARCHAR' },
      ]),
    );
  }

  async apply(each: Step): Promise<void> {
    switch (each.do) {
      case 'insert':
        return this.insert(each.count, each.text);
      case 'update': {
        const ids = this.choose(each.from, each.count);
        if (ids.length === 0) return;
        const rows = ids.map((rowId, i) => ({ rowId, cells: this.cells(i, each.text).slice(0, 1 + (i % 2)) }));
        await this.store.upsert(
          't',
          rows.map(({ rowId, cells }) => ({ __svc_row_id: rowId, ...Object.fromEntries(cells) })),
        );
        return this.model.upsert(rows.map(({ rowId, cells }) => ({ rowId, cells: Object.fromEntries(cells) })));
      }
      case 'delete': {
        const ids = this.choose(each.from, each.count);
        if (ids.length === 0) return;
        await this.store.remove('t', ids);
        return this.model.remove(ids);
      }
      case 'addColumn': {
        const name = this.newName();
        await this.change((request) =>
          prepareAddColumn(this.store.services, this.store.principal, request, { column: name, type: each.type, default: each.value }),
        );
        return this.model.addColumn(name, each.type, each.value === null ? null : String(each.value));
      }
      case 'renameColumn': {
        const column = this.column(each.which);
        const name = this.newName();
        await this.change((request) => prepareRenameColumn(this.store.services, this.store.principal, request, column.name, name));
        return this.model.renameColumn(column.id, name);
      }
      case 'retypeColumn':
        return this.retype(this.column(each.which));
      case 'dropColumn': {
        if (this.model.now.columns.length === 1) return;
        const column = this.column(each.which);
        await this.change((request) => prepareDropColumn(this.store.services, this.store.principal, request, column.name));
        return this.model.dropColumn(column.id);
      }
      case 'undo':
        return this.undoLast();
      case 'snapshot': {
        const { snapshot } = await this.store.commit((tx) => commitSnapshot(tx, this.store.workbook, { summary: 's', eventType: 'test' }));
        this.snapshots.push({ record: snapshot, version: this.model.version });
        return;
      }
      case 'restore':
        return this.restore(each.which);
      case 'freeze':
        return this.fold(eager, each.edit);
      case 'compact':
        return this.fold(thorough, each.edit);
    }
  }

  /** Every version there ever was. */
  async check(): Promise<void> {
    expect(await this.store.currentVersion(this.tableId)).toBe(this.model.version);
    for (let version = 1; version <= this.model.version; version += 1)
      expect(await this.store.readContent(this.tableId, version), `version ${version}`).toEqual(this.model.contentAt(version));
  }

  /** From numbers to text and back, as far as the texts are numbers. */
  private async retype({ id, name, type }: ModelColumn): Promise<void> {
    const wanted = type === 'BIGINT' ? 'VARCHAR' : 'BIGINT';
    const texts = [...this.model.now.rows.values()].map((cells) => cells.get(id) ?? null);
    const retyping = this.change((request) => prepareRetypeColumn(this.store.services, this.store.principal, request, name, wanted));
    if (texts.some((each) => each !== null && !/^-?\d+$/.test(each))) {
      await expect(retyping).rejects.toMatchObject({ code: 'uncastable-value' });
      return;
    }
    await retyping;
    retypes += 1;
    this.model.retypeColumn(id, wanted);
  }

  private async insert(count: number, value: string | null): Promise<void> {
    const rows = Array.from({ length: count }, (_, i) => Object.fromEntries(this.cells(i, value)));
    const { rowIds } = await this.store.upsert('t', rows);
    this.model.upsert(rows.map((cells, i) => ({ rowId: rowIds[i] as number, cells })));
  }

  /** The last edit of rows, when nothing came after it. */
  private async undoLast(): Promise<void> {
    const { rows } = await this.store.services.db.pool.query<{ id: number }>(
      `SELECT op_id::integer AS id FROM ops WHERE scope = $1 AND table_id = $2 AND edit_version = $3 AND kind IN ('rows.upsert', 'rows.delete')`,
      [this.store.workbook.id, this.tableId, this.model.version],
    );
    const [op] = rows;
    if (!op) return;
    const prepared = await prepareUndo(this.store.services, this.store.principal, this.store.workbook.id, op.id);
    await this.store.commit((tx) => applyUndo(tx, prepared));
    this.model.bringBack(this.model.version - 1);
  }

  private async restore(which: number): Promise<void> {
    const chosen = this.snapshots[which % Math.max(1, this.snapshots.length)];
    if (!chosen) return;
    const plan = await planRestore(this.store.services.db, chosen.record);
    const { restored } = await this.store.commit((tx) => restoreSnapshot(tx, this.store.workbook, plan, null));
    if (restored.length > 0) this.model.bringBack(chosen.version);
    else expect(this.model.contentAt(this.model.version)).toEqual(this.model.contentAt(chosen.version));
  }

  /** What the log tells: histories of some rows, and what the last versions changed. */
  private async tell(version: number, rowIds: number[]): Promise<unknown> {
    const { services, principal } = this.store;
    const [at] = await listTablesById(services.db.pool, [this.tableId]);
    const to = at && (await requireTableAt(services, at, version));
    const from = at && (await requireTableAt(services, at, Math.max(1, version - 3)));
    if (!at || !from || !to) throw new Error('the table is gone');
    const ever = await openVisibleHistory(services, principal, at);
    const histories = [];
    for (const rowId of rowIds) {
      const { items: changes } = await readRowHistory(services, ever, rowId, { limit: 100 }).catch(() => ({ items: [] }));
      histories.push(
        changes.filter(({ editVersion }) => editVersion <= version).map(({ editVersion, kind, cells }) => ({ editVersion, kind, cells })),
      );
    }
    return { histories, diff: await diffTable(services, seeEverything(from), seeEverything(to), 100) };
  }

  /** Twice, so that its tail is written down. */
  async read(): Promise<void> {
    for (const _ of [1, 2]) await this.store.readContent(this.tableId);
  }

  /** Folds the table until there is nothing to do; with an edit that comes between its file and its swap, if wanted. */
  private async fold(limits: typeof compactionLimits, edit: boolean): Promise<void> {
    const { services } = this.store;
    const { version } = this.model;
    const rowIds = [1, 2, ...this.choose(version, 2)];
    const told = await this.tell(version, rowIds);
    let edits = edit ? 1 : 0;
    const put: BlobStore['put'] = async (...args) => {
      const result = await services.blobs.put(...args);
      if (edits > 0) {
        edits -= 1;
        await this.insert(2, 'meanwhile');
      }
      return result;
    };
    const busy: Services = { ...services, blobs: Object.create(services.blobs, { put: { value: put } }) as BlobStore };
    for (let outcome = ''; outcome !== 'nothing'; ) {
      outcome = await compactTable(busy, this.tableId, quiet, limits);
      expect(outcome).not.toBe('moved');
    }
    expect(await this.tell(version, rowIds)).toEqual(told);
    moves += (await services.db.pool.query(`SELECT 1 FROM log_files WHERE table_id = $1 AND kind = 'log'`, [this.tableId])).rowCount ?? 0;
  }

  private async change(prepare: (request: { workbookId: string; name: string; expectedVersion: null }) => Promise<PreparedColumnChange>) {
    const prepared = await prepare({ workbookId: this.store.workbook.id, name: 't', expectedVersion: null });
    await this.store.commit((tx) => applyColumnChange(tx, prepared));
  }

  private choose(from: number, count: number): number[] {
    const ids = [...this.model.now.rows.keys()].sort((a, b) => a - b);
    const start = ids.length === 0 ? 0 : from % ids.length;
    return ids.slice(start, start + count);
  }

  private column(which: number) {
    const { columns } = this.model.now;
    return columns[which % columns.length] as (typeof columns)[number];
  }

  private cells(i: number, value: string | null): [string, string | null][] {
    return this.model.now.columns.map((column) => [column.name, column.type === 'BIGINT' ? String(i * 3 - 4) : value]);
  }

  private newName(): string {
    this.names += 1;
    return `列${this.names}`;
  }
}

describe('the table store', () => {
  it('gives at every version what a naive model gives, whatever happened', async () => {
    let runs = 0;
    const untilMs = Date.now() + 10_000;
    // A slow machine takes longer rather than checking less.
    const isEnough = () => Date.now() > untilMs && runs > 5 && moves > 0 && tailFiles > 0 && retypes > 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }), async (steps) => {
        if (isEnough()) return;
        const run = await Run.start();
        for (const each of steps) {
          await run.apply(each);
          await run.read();
        }
        await run.check();
        runs += 1;
      }),
      { numRuns: 200, endOnFailure: true },
    );
    console.log(`${runs} random histories checked at every version`);
    expect(runs).toBeGreaterThan(5);
    expect(moves).toBeGreaterThan(0);
    expect(tailFiles).toBeGreaterThan(0);
    expect(retypes).toBeGreaterThan(0);
  });

  it('lets exactly one of 32 writers with the same expected version win, round after round', async () => {
    const { client } = store.owner;
    const own = await store.another();
    const id = await own.makeTable('raced', [{ name: 'a', type: 'BIGINT' }]);
    const path = { workbook_id: own.workbook.id, name: 'raced' };
    for (let round = 0; round < 10; round += 1) {
      const expected = round + 1;
      const answers = await Promise.all(
        Array.from({ length: 32 }, (_, writer) =>
          client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
            params: { path },
            body: { rows: [{ a: writer }], expected_version: expected },
          }),
        ),
      );
      const statuses = answers.map(({ response }) => response.status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 31 }, () => 409)]);
      expect(ok(answers.find(({ response }) => response.ok) as (typeof answers)[number]).edit_version).toBe(expected + 1);
    }
    expect((await own.readContent(id)).rows.length).toBe(10);
  });
});
