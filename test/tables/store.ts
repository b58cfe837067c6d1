import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { requireWorkbook } from '../../activities/access.ts';
import { authenticate } from '../../activities/identity/authenticate.ts';
import { prepareDelete } from '../../activities/rows/deleteRows.ts';
import { readRows } from '../../activities/rows/readRows.ts';
import { prepareUpsert } from '../../activities/rows/upsertRows.ts';
import { createTable } from '../../activities/tables/createTable.ts';
import { commitPlan, retryOnMove } from '../../activities/tables/editTable.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import type { Principal } from '../../core/access/principal.ts';
import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { withRelation } from '../../store/duckdb/engine.ts';
import { quoteName } from '../../store/duckdb/relation.ts';
import { type Actor, type Change, commit } from '../../store/pg/commit.ts';
import type { EditedTable } from '../../store/pg/tableEdits.ts';
import { findTableAt, listTablesById } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeLargeTable } from '../setup/largeTable.ts';

/** A table's whole content at a version: columns, and rows as text in row order. */
export interface Content {
  columns: [name: string, type: string][];
  rows: (string | null)[][];
}

/** The table store without HTTP: what the API and the workers do, called directly, over real services. */
export interface TestStore {
  api: TestApi;
  services: Services;
  owner: Person;
  principal: Principal;
  workbook: VisibleWorkbook;
  commit<T>(change: Change<T>): Promise<T>;
  makeTable(name: string, columns: { name: string; type: string }[]): Promise<string>;
  /** Of so many rows, in one segment, as an ingest makes it. */
  makeLargeTable(name: string, rows: number): Promise<string>;
  upsert(name: string, rows: Record<string, unknown>[], expected?: number | null, services?: Services): Promise<Edited>;
  remove(name: string, rowIds: number[]): Promise<Edited>;
  currentVersion(tableId: string): Promise<number>;
  listVersions(tableId: string): Promise<number[]>;
  readContent(tableId: string, version?: number): Promise<Content>;
  hashContent(tableId: string, version?: number): Promise<string>;
  hashVersions(tableId: string): Promise<Record<number, string>>;
  /** The same services over a workbook of its own: a restore is about all tables of one. */
  another(): Promise<TestStore>;
  stop(): Promise<void>;
}

export interface Edited extends EditedTable {
  rowIds: number[];
}

const actor: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };

const largeColumns = [
  { name: 'n', type: 'BIGINT', sql: 'i * 7' },
  { name: 't', type: 'VARCHAR', sql: "'text ' || i" },
];

export async function openTestStore(env: Record<string, string> = {}): Promise<TestStore> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-store-'));
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off', SVC_DATA_DIR: dataDir, ...env });
  const { services } = api;
  const owner = await api.signUp();
  const principal = await authenticate(services, owner.session);
  const stop = async () => {
    await api.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return bindStore({ api, services, owner, principal, stop });
}

type Common = Pick<TestStore, 'api' | 'services' | 'owner' | 'principal' | 'stop'>;

async function bindStore(common: Common): Promise<TestStore> {
  const { services, owner, principal } = common;
  const { id } = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: 'store' } }));
  const workbook = await requireWorkbook(services, principal, id, 'editor');

  const write = async <T>(change: Change<T>) => (await commit(services, actor, change)).result;
  const request = (name: string, expectedVersion: number | null) => ({ workbookId: workbook.id, name, expectedVersion, rebase: false });

  /** Small pages are looked up by their bytes, large ones are read by the engine: both must say the same. */
  const requireSamePages = async (at: TableAt): Promise<void> => {
    const read = (limit: number, cursor?: string) =>
      readRows(services, seeEverything(at), { userId: 'usr_1', limit, ...(cursor ? { cursor } : {}) });
    const large = await read(10_000);
    const small: string[] = [];
    let cursor: string | null | undefined;
    for (let pages = 0; pages < 12 && cursor !== null; pages += 1) {
      const page = await read(7, cursor);
      small.push(...page.rows);
      cursor = page.nextCursor;
    }
    const wanted = large.rows.slice(0, small.length).map((row) => JSON.parse(row));
    if (cursor === null && large.rows.length !== small.length) throw new Error(`${small.length} rows by pages of ${large.rows.length}`);
    if (
      !isDeepStrictEqual(
        small.map((row) => JSON.parse(row)),
        wanted,
      )
    )
      throw new Error(`${at.table.id}@${at.editVersion}: pages say ${small.join('\n')}, the engine ${JSON.stringify(wanted)}`);
  };
  const readContent = async (tableId: string, version?: number): Promise<Content> => {
    const [current] = await listTablesById(services.db.pool, [tableId]);
    if (!current) throw new Error(`no table ${tableId}`);
    const at =
      version === undefined || version === current.editVersion ? current : await findTableAt(services.db.pool, current.table, version);
    if (!at) throw new Error(`no version ${version} of ${tableId}`);
    const names = [...at.columns.map((column) => column.name), rowIdColumn];
    const rows = await withRelation(
      services.engine,
      services.blobs,
      await openRelation(services, seeEverything(at)),
      async (connection, from) => {
        const reader = await connection.runAndReadAll(
          `SELECT ${names.map((name) => `CAST(${quoteName(name)} AS VARCHAR)`).join(', ')} FROM ${from} ORDER BY ${rowIdColumn}`,
        );
        return reader.getRows() as (string | null)[][];
      },
    );
    await requireSamePages(at);
    if (rows.length !== at.rowCount) throw new Error(`${tableId}@${at.editVersion}: ${rows.length} rows, row_count says ${at.rowCount}`);
    return { columns: at.columns.map((column) => [column.name, column.type]), rows };
  };
  const hashContent = async (tableId: string, version?: number) =>
    createHash('sha256')
      .update(JSON.stringify(await readContent(tableId, version)))
      .digest('hex');
  const listVersions = async (tableId: string) => {
    const { rows } = await services.db.pool.query<{ v: number }>(
      'SELECT edit_version::integer AS v FROM table_versions WHERE table_id = $1 ORDER BY 1',
      [tableId],
    );
    return rows.map((row) => row.v);
  };

  return {
    ...common,
    another: () => bindStore(common),
    workbook,
    commit: write,
    async makeTable(name, columns) {
      await write((tx) => createTable(tx, workbook, { name, columns }));
      return (await requireTable(services, workbook.id, name)).table.id;
    },
    makeLargeTable: (name, rows) => makeLargeTable(services, workbook, { name, columns: largeColumns, rows, rowsPerFile: rows }),
    upsert: (name, rows, expected = null, other = services) =>
      retryOnMove(async () => {
        const { at, plan, rowIds } = await prepareUpsert(other, principal, request(name, expected), rows);
        const edited = await write(commitPlan({ at, plan }));
        return { ...edited, rowIds: rowIds.map((rowId) => (rowId < 0 ? edited.firstRowId - rowId - 1 : rowId)) };
      }),
    remove: (name, rowIds) =>
      retryOnMove(async () => {
        const { at, plan } = await prepareDelete(services, principal, request(name, null), rowIds);
        return { ...(await write(commitPlan({ at, plan }))), rowIds };
      }),
    async currentVersion(tableId) {
      return (await listTablesById(services.db.pool, [tableId]))[0]?.editVersion ?? 0;
    },
    listVersions,
    readContent,
    hashContent,
    async hashVersions(tableId) {
      const hashes: Record<number, string> = {};
      for (const version of await listVersions(tableId)) hashes[version] = await hashContent(tableId, version);
      return hashes;
    },
  };
}
