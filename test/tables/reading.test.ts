import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { components } from '../../schema/contract.ts';
import { ok, refused, startTestApi, type TestApi } from '../setup/api.ts';
import { type DrivenTable, makeWorkbookWith, type RowsAnswer } from './tableDriver.ts';

let api: TestApi;
let world: Awaited<ReturnType<typeof makeWorkbookWith>>;
let table: DrivenTable;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  world = await makeWorkbookWith(api);
  table = await world.makeTable('読む', [{ name: 'n', type: 'BIGINT' }, { name: '群' }, { name: '他', type: 'JSON' }]);
  // Layers of every kind below the page: a file, then entries of the log above it.
  ok(await table.upsert(Array.from({ length: 1200 }, (_, n) => ({ n, 群: `g${n % 3}` }))));
  ok(
    await table.upsert([
      { __svc_row_id: 5, n: -5 },
      { n: 5000, 群: 'late' },
    ]),
  );
  ok(await table.remove([7]));
});
afterAll(() => api.stop());

type Page = RowsAnswer & { next_cursor: string | null };

const base = '/api/v1/workbooks/{workbook_id}' as const;
const fetchRows = (query: string, accept: string) =>
  api.fetch(`/api/v1/workbooks/${world.workbookId}/tables/${encodeURIComponent('読む')}/rows?${query}`, {
    token: world.owner.session,
    headers: { accept },
  });
const readRaw = (query: Record<string, unknown>) =>
  world.owner.client.GET(`${base}/tables/{name}/rows`, { params: { path: table.path, query } });

describe('readRows: rows are read', () => {
  it('page by page to the end, each once, in row order, as they were at the first', async () => {
    const ids: number[] = [];
    let cursor: string | undefined;
    do {
      const page = (await table.read({ limit: 250, ...(cursor ? { cursor } : {}) })) as Page;
      ids.push(...page.rows.map((row) => row.__svc_row_id));
      cursor = page.next_cursor ?? undefined;
      if (ids.length === 250) {
        ok(await table.upsert([{ n: 6000, 群: 'later' }]));
        ok(await table.remove([ids[249] as number, 900]));
      }
    } while (cursor);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect([ids.length, ids.includes(7), ids.includes(900)]).toEqual([1200, false, true]);
  });

  it('from an offset, with some columns, sorted, and as they were at a version', async () => {
    expect((await table.read({ offset: 4, limit: 3 })).rows.map((row) => [row.__svc_row_id, row.n])).toEqual([
      [5, -5],
      [6, 5],
      [8, 7],
    ]);
    expect(Object.keys((await table.read({ limit: 1, columns: ['群'] })).rows[0] ?? {})).toEqual(['群', '__svc_row_id']);
    expect((await table.read({ limit: 2, sort: ['群:desc', 'n'] })).rows.map((row) => row.n)).toEqual([6000, 5000]);
    const then = await table.read({ at_version: 2, limit: 1, offset: 4 });
    expect([then.edit_version, then.rows[0]?.n, then.row_count]).toEqual([2, 4, 1200]);
    refused(await readRaw({ at_version: 99 }), 404, 'not-found');
    refused(await readRaw({ offset: 1, cursor: 'x' }), 422, 'validation-failed');
    refused(await readRaw({ limit: 10_001 }), 422, 'validation-failed');
    const { errors } = refused(await readRaw({ sort: ['群x'] }), 422, 'validation-failed') as { errors?: { detail: string }[] };
    expect(errors?.[0]?.detail).toMatch(/did you mean 群\?/);
  });

  it('from a cursor only by the list that gave it out', async () => {
    const lists = [{ sort: ['n'] }, { sort: ['n:desc'] }, { filter: 'n > 1' }, { filter: 'n > 2' }, { filter: 'n > 1', sort: ['n'] }];
    for (const list of lists) {
      const { next_cursor: cursor } = (await table.read({ limit: 2, ...list })) as unknown as { next_cursor: string };
      expect((await table.read({ limit: 2, cursor, ...list })).rows.length).toBe(2);
      for (const other of lists.filter((each) => each !== list))
        refused(await readRaw({ limit: 2, cursor, ...other }), 422, 'validation-failed');
      refused(await readRaw({ limit: 2, cursor }), 422, 'validation-failed');
    }
  });

  it('sorted and filtered pages go on in the version that they began with, whatever is written, renamed, folded or restored', async () => {
    const name = '頁';
    const other = await world.makeTable(name, [{ name: 'n', type: 'BIGINT' }, { name: 't' }]);
    ok(await other.upsert(Array.from({ length: 1100 }, (_, n) => ({ n: (n * 7) % 1100, t: `t${n % 5}` }))));
    ok(await other.upsert([{ __svc_row_id: 3, n: 5000 }]));
    const lists = [{}, { sort: ['t:desc', 'n'] }, { filter: 'n % 2 = 0' }, { filter: 'n > 20', sort: ['n:desc'] }];
    const all = await Promise.all(lists.map((list) => other.read({ ...list, limit: 2000 })));
    const pages = (await Promise.all(lists.map((list) => other.read({ ...list, limit: 400 })))) as Page[];
    const read = pages.map(({ rows }) => rows);
    const snapshot = await world.snapshot();
    const { id } = ok(await world.owner.client.GET(`${base}/tables/{name}`, { params: { path: other.path } }));
    const meanwhile = [
      () =>
        other.upsert([{ n: -1, t: 'z' }, { n: 9000, t: 'z' }, ...[1, 4, 9, 900].map((row) => ({ __svc_row_id: row, n: 9001, t: 'z' }))]),
      () => other.remove([2, 5, 700]),
      () => other.rename('n', 'm'),
      () => other.drop('t'),
      () => compactTable(api.services, id, { heartbeat() {} }, { ...compactionLimits, tail: 0, deltaShare: -1 }),
      () => world.restore(snapshot),
    ];
    let left = true;
    for (let turn = 0; left; turn += 1) {
      await meanwhile[turn]?.();
      left = turn < meanwhile.length - 1;
      for (const [i, list] of lists.entries()) {
        const { next_cursor: cursor } = pages[i] as Page;
        if (cursor === null) continue;
        pages[i] = (await other.read({ ...list, limit: 150, cursor })) as Page;
        expect(pages[i]?.edit_version).toBe(all[i]?.edit_version);
        read[i]?.push(...(pages[i]?.rows ?? []));
      }
    }
    expect(pages.map(({ next_cursor }) => next_cursor)).toEqual(lists.map(() => null));
    expect(read).toEqual(all.map(({ rows }) => rows));
  });

  it('from a cursor no longer than its version is kept, and not with another version beside it', async () => {
    const other = await world.makeTable('古い', [{ name: 'n', type: 'BIGINT' }]);
    ok(await other.upsert([{ n: 1 }, { n: 2 }, { n: 3 }]));
    const ask = (query: Record<string, unknown>) =>
      world.owner.client.GET(`${base}/tables/{name}/rows`, { params: { path: other.path, query } });
    const lists = [{}, { sort: ['n'] }, { filter: 'n > 0' }];
    const cursors = await Promise.all(lists.map(async (list) => ((await other.read({ ...list, limit: 1 })) as Page).next_cursor));
    ok(await other.upsert([{ n: 4 }]));
    for (const [i, list] of lists.entries()) {
      const cursor = cursors[i] as string;
      expect((await other.read({ ...list, cursor, at_version: 2 })).rows.map((row) => row.n)).toEqual([2, 3]);
      refused(await ask({ ...list, cursor, at_version: 3 }), 422, 'validation-failed');
    }
    await api.sql.query('DELETE FROM table_versions v USING tables t WHERE t.id = v.table_id AND t.name = $1 AND v.edit_version = 2', [
      '古い',
    ]);
    for (const [i, list] of lists.entries()) {
      const problem = refused(await ask({ ...list, cursor: cursors[i] }), 410, 'expired');
      expect(problem).toMatchObject({ detail: expect.stringContaining('version 2'), suggested_fix: 'Start again without cursor.' });
    }
    // Numbers that no cursor of this table has.
    for (const version of [0, -1, 99])
      refused(await ask({ cursor: Buffer.from(JSON.stringify([1, version, 'x'])).toString('base64url') }), 422, 'validation-failed');
  });

  it('as NDJSON and Arrow, filtered or not, the same rows', async () => {
    for (const query of ['limit=20&offset=2', `limit=20&filter=${encodeURIComponent('n BETWEEN 2 AND 30')}`]) {
      const json = (await (await fetchRows(query, 'application/json')).json()) as { rows: { __svc_row_id: number }[]; row_count: number };
      const ids = json.rows.map((row) => row.__svc_row_id);
      const ndjson = await fetchRows(query, 'application/x-ndjson');
      const lines = (await ndjson.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { __svc_row_id: number });
      expect(lines).toEqual(json.rows);
      expect(ndjson.headers.get('x-svc-row-count')).toBe(String(json.row_count));
      const arrow = await fetchRows(query, 'application/vnd.apache.arrow.stream');
      const column = tableFromIPC(Buffer.from(await arrow.arrayBuffer())).getChild('__svc_row_id');
      expect([...(column ?? [])].map(Number)).toEqual(ids);
      expect(ids.length).toBe(20);
    }
  });

  it('by a filter with every digit of what is inside JSON, and with odd characters in one piece', async () => {
    const other = await world.makeTable('json', [{ name: 'j' }]);
    ok(await other.upsert([{ j: '{"big":12345678901234567,"text":"a,\\n{\\"b\\":1},\\n"}' }, { j: '{}' }]));
    ok(await other.retype('j', 'JSON'));
    const answer = await api.fetch(`/api/v1/workbooks/${world.workbookId}/tables/json/rows?filter=${encodeURIComponent('j IS NOT NULL')}`, {
      token: world.owner.session,
      headers: { accept: 'application/x-ndjson' },
    });
    const lines = (await answer.text()).trimEnd().split('\n');
    expect(lines.length).toBe(2);
    expect(lines[0]).toContain('"big":12345678901234567,');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ j: { text: 'a,\n{"b":1},\n' } });
  });
});

describe('runQuery: a query', () => {
  const run = async (sql: string) => {
    const path = { workbook_id: world.workbookId };
    return ok(await world.owner.client.POST(`${base}/query`, { params: { path }, body: { sql } })) as components['schemas']['QueryResult'];
  };

  it('finds its tables whatever their names look like in the text, and says which it read', async () => {
    const odd = await world.makeTable('a "quoted" Name', [{ name: 'x', type: 'BIGINT' }]);
    await world.makeTable('x', [{ name: 'unused' }]);
    ok(await odd.upsert([{ x: 1 }, { x: 2 }]));
    const answer = await run('SELECT sum(x) AS s FROM "A ""QUOTED"" nAME"');
    expect([answer.rows, answer.tables.map(({ name }) => name)]).toEqual([[{ s: 3 }], ['a "quoted" Name']]);
    // `x` stands in the text and is not read; many tables in the text are not all opened.
    for (let i = 0; i < 10; i += 1) await world.makeTable(`t${i}`, [{ name: 'a' }]);
    const many = await run(`SELECT count(*) AS n, 't0 t1 t2 t3 t4 t5 t6 t7 t8 t9' AS names FROM t3`);
    expect(many.tables.map(({ name }) => name)).toEqual(['t3']);
  });

  it('of the same rows twice leaves two results, each with a file of its own', async () => {
    const sql = 'SELECT i AS one FROM range(100000) AS r(i)';
    const ids = [(await run(sql)).id, (await run(`${sql} `)).id];
    const { rows } = await api.sql.query<{ blob_key: string }>(
      'SELECT DISTINCT blob_key FROM results WHERE id = ANY ($1) AND blob_key IS NOT NULL AND content IS NULL',
      [ids],
    );
    expect(rows.length).toBe(2);
  });

  it('of few rows leaves its result in the database, where it is read like any other', async () => {
    const { id } = await run("SELECT 1 AS one, 'ü' AS text UNION ALL SELECT 2, NULL ORDER BY 1");
    const { rows } = await api.sql.query('SELECT blob_key, length(content) > 0 AS kept FROM results WHERE id = $1', [id]);
    expect(rows).toEqual([{ blob_key: null, kept: true }]);
    const page = ok(
      await world.owner.client.GET('/api/v1/results/{result_id}', { params: { path: { result_id: id }, query: { offset: 1 } } }),
    );
    expect(page).toHaveProperty('rows', [{ one: 2, text: null }]);
  });
});

it('a filtered page of Arrow reads files that are held for it', async () => {
  const { blobs } = api.services;
  const open = blobs.open.bind(blobs);
  // As in a cache of files: what was given back may be gone.
  blobs.open = async (keys) => {
    const opened = await open(keys);
    let held = true;
    return {
      pathOf: (key) => (held ? opened.pathOf(key) : '/gone'),
      release() {
        held = false;
        opened.release();
      },
    };
  };
  try {
    const answer = await fetchRows(`filter=${encodeURIComponent('n < 3 AND n >= 0')}`, 'application/vnd.apache.arrow.stream');
    expect([answer.status, tableFromIPC(new Uint8Array(await answer.arrayBuffer())).numRows]).toEqual([200, 3]);
  } finally {
    blobs.open = open;
  }
});
