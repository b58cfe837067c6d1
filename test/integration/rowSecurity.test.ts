import { createServer, type Server } from 'node:http';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeHandlers } from '../../api/handlers/index.ts';
import { makeApp } from '../../api/http/app.ts';
import { answers, ByteBudget, work } from '../../api/http/byteBudget.ts';
import { makeMetrics } from '../../api/http/metrics.ts';
import type { ApiParts } from '../../api/http/pipeline.ts';
import { Turns } from '../../api/http/turns.ts';
import type { TableRecord } from '../../core/table/table.ts';
import { workbooks } from '../../schema/index.ts';
import { acrossAccounts, inAccount, inAccounts } from '../../store/pg/accountScope.ts';
import { listCredentials } from '../../store/pg/credentials.ts';
import { findJob } from '../../store/pg/jobs.ts';
import { isRowSecurityEnforced } from '../../store/pg/roleCheck.ts';
import { listEntries } from '../../store/pg/rowLog.ts';
import { findTableAt, listTablesById, reserveRows } from '../../store/pg/tables.ts';
import { findWorkbook } from '../../store/pg/workbooks.ts';
import { ok, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace } from '../setup/credentials.ts';
import { fillTables, listCatalog, listPlaces, nobodysTables } from '../setup/rowsOfAccount.ts';

/** The second wall between accounts: what a statement without a WHERE does, table by table, and in a request. */

let api: TestApi;
let pool: pg.Pool;
let tables: string[];
const [mine, theirs, empty] = ['acc_MINE', 'acc_THEIRS', 'acc_EMPTY'];
let places: Record<'mine' | 'theirs', Map<string, string[]>>;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  ({ pool } = api.running.services.db);
  tables = [...(await listCatalog(api.sql)).keys()].filter((table) => !nobodysTables.has(table));
  await fillTables(api.sql, mine);
  const first = await listPlaces(api.sql, tables);
  await fillTables(api.sql, theirs);
  const both = await listPlaces(api.sql, tables);
  const second = tables.map((table): [string, string[]] => [
    table,
    (both.get(table) ?? []).filter((place) => !first.get(table)?.includes(place)),
  ]);
  places = { mine: first, theirs: new Map(second) };
});
afterAll(() => api.stop());

/** Runs in a transaction that is taken back. */
async function attempt(accountId: string, text: string, values: unknown[] = []): Promise<pg.QueryResult | { code: string }> {
  const client = await inAccount(accountId, () => pool.connect());
  try {
    await client.query('BEGIN');
    return await client.query(text, values).catch((error: { code: string }) => ({ code: error.code }));
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

const seenIn = async (table: string) =>
  (await pool.query<{ place: string }>(`SELECT ctid::text AS place FROM ${table} ORDER BY 1`)).rows.map(({ place }) => place);
const each = async <T>(look: (table: string) => Promise<T>) => {
  const found: Record<string, T> = {};
  for (const table of tables) found[table] = await look(table);
  return found;
};

/** The credit books refuse every change, whoever makes it. */
const isBooks = (table: string) => table.startsWith('credit_');

describe('row security: every table that has to do with accounts', () => {
  it('stands behind the wall, which holds for its owner too', async () => {
    const { rows } = await api.sql.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid))`,
    );
    expect(new Set(rows.map(({ name }) => name))).toEqual(nobodysTables);
    expect(await isRowSecurityEnforced(pool)).toBe(true);
  });

  it('shows an account its own rows, and nothing where nothing was said', async () => {
    expect(await inAccount(mine, () => each(seenIn))).toEqual(Object.fromEntries(places.mine));
    expect(await inAccount(theirs, () => each(seenIn))).toEqual(Object.fromEntries(places.theirs));
    expect(Object.values(await each(seenIn)).flat()).toEqual([]);
    expect(Object.values(await inAccounts([], () => each(seenIn))).flat()).toEqual([]);
    expect(Object.values(await inAccount(empty, () => each(seenIn))).flat()).toEqual([]);
    for (const table of tables) expect([table, places.mine.get(table)?.length, places.theirs.get(table)?.length]).not.toContain(0);
  });

  it('shows several accounts, or all, to who says so', async () => {
    const sorted = (lists: string[][]) => lists.flat().sort();
    const both = await inAccounts([mine, theirs], () => each(seenIn));
    const all = await acrossAccounts(() => each(seenIn));
    for (const table of tables) {
      const expected = sorted([places.mine.get(table) ?? [], places.theirs.get(table) ?? []]);
      expect([table, sorted([both[table] ?? []])]).toEqual([table, expected]);
      expect([table, sorted([all[table] ?? []])]).toEqual([table, expected]);
    }
  });

  it('is changed in its own rows alone', async () => {
    const catalog = await listCatalog(api.sql);
    for (const table of tables) {
      const column = catalog.get(table)?.[0]?.name;
      const update = `UPDATE ${table} SET ${column} = ${column}`;
      const books = { code: '23001' };
      expect([table, await attempt(mine, update)]).toMatchObject([
        table,
        isBooks(table) ? books : { rowCount: places.mine.get(table)?.length },
      ]);
      expect([table, await attempt(empty, update)]).toMatchObject([table, isBooks(table) ? books : { rowCount: 0 }]);
      expect([table, await attempt(empty, `DELETE FROM ${table}`)]).toMatchObject([table, isBooks(table) ? books : { rowCount: 0 }]);
    }
  });

  it('takes no row of another account', async () => {
    const catalog = await listCatalog(api.sql);
    for (const table of tables) {
      const columns = catalog.get(table)?.flatMap(({ name, generated }) => (generated ? [] : [name]));
      const { rows } = await api.sql.query<{ row: object }>(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE ctid = $1::tid`, [
        places.theirs.get(table)?.[0],
      ]);
      const insert = `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_record(NULL::${table}, $1)`;
      expect([table, await attempt(mine, insert, [rows[0]?.row])]).toMatchObject([table, { code: '42501' }]);
    }
  });

  it('does not give a row away', async () => {
    expect(await attempt(mine, `UPDATE workbooks SET account_id = '${theirs}'`)).toMatchObject({ code: '42501' });
    expect(await attempt(mine, `UPDATE accounts SET id = '${empty}'`)).toMatchObject({ code: '42501' });
  });
});

describe('row security: what is asked for by the id of another account', () => {
  it('is not there', async () => {
    const { db } = api.running.services;
    const [tableId, jobId] = [`tables_of_${theirs}`, `jobs_of_${theirs}`];
    const look = async () => ({
      workbook: await findWorkbook(db.orm, `workbooks_of_${theirs}`),
      tables: await listTablesById(db.pool, [tableId]),
      version: await findTableAt(db.pool, { id: tableId } as TableRecord, 1),
      log: await listEntries(db.pool, tableId, { after: 0, upTo: 10 }).then(({ entries }) => entries.length, String),
      job: await findJob(db.orm, jobId),
      tokens: (await listCredentials(db.orm, { kind: `of ${theirs}` as never }, { before: null, limit: 10 })).length,
      reserved: await reserveRows(db.pool, tableId, 5),
    });
    // An empty log would be taken for the truth.
    const log = 'Error: the log of a table that is not to be seen was asked for';
    const nothing = { workbook: null, tables: [], version: null, log, job: null, tokens: 0, reserved: 0 };
    expect(await inAccount(mine, look)).toEqual(nothing);
    expect(await look()).toEqual(nothing);
    expect(await inAccount(theirs, look)).toMatchObject({
      workbook: { accountId: theirs },
      log: 1,
      job: { accountId: theirs },
      tokens: 1,
      reserved: 1,
    });
  });
});

describe('row security: a request with a statement that has forgotten its WHERE', () => {
  let server: Server;
  afterAll(() => server?.close());

  it('sees the rows of who asks', async () => {
    const [ann, ben] = [await api.signUp('Ann'), await api.signUp('Ben')];
    const owned = { ann: await makeWorkbook(ann.client, "Ann's"), ben: await makeWorkbook(ben.client, "Ben's") };
    const { services } = api.running;
    const parts: ApiParts = {
      services,
      stopping: new AbortController().signal,
      contract: api.contract,
      takeRequest: async () => ({}),
      turns: new Turns(),
      counter: { count() {}, async flush() {}, async stop() {} },
      budgets: { answers: new ByteBudget(services.config.answers, answers), work: new ByteBudget(services.config.work, work) },
    };
    const metrics = makeMetrics(services, '0');
    const handlers = makeHandlers(parts, metrics);
    const careless = async () => {
      const rows = await services.db.orm.select({ id: workbooks.id }).from(workbooks).orderBy(workbooks.id);
      return { status: 200 as const, raw: { type: 'application/json', data: JSON.stringify(rows.map(({ id }) => id)) } };
    };
    const app = makeApp(parts, { ...handlers, getMe: careless }, metrics);
    server = createServer(app.callback());
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    const ask = async (token: string): Promise<string[]> => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } });
      return (await answer.json()) as string[];
    };
    expect(await ask(ann.session)).toEqual([owned.ann]);
    expect(await ask(ben.session)).toEqual([owned.ben]);

    // A guest sees more: what is kept from them within the account is the first wall's business.
    const workspace = await makeWorkspace(ann.client, 'Shared');
    ok(
      await ann.client.POST('/api/control/workspaces/{workspace_id}/users', {
        params: { path: { workspace_id: workspace } },
        body: { email: ben.email, role: 'viewer' },
      }),
    );
    expect(await ask(ben.session)).toEqual([owned.ann, owned.ben]);
    const asked = Array.from({ length: 60 }, async (_, i) => (i % 2 === 0 ? await ask(ann.session) : await ask(ben.session)));
    (await Promise.all(asked)).forEach((ids, i) => {
      expect(ids).toEqual(i % 2 === 0 ? [owned.ann] : [owned.ann, owned.ben]);
    });
  });
});
