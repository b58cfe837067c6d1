import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeWorld, startWorkingApi, type World } from '../contract/world.ts';
import { ok, type TestApi, type TestServer } from '../setup/api.ts';
import { setPolicy, tagColumn } from '../setup/governance.ts';
import { watchStatements } from '../setup/statements.ts';
import { makeTable } from '../setup/tables.ts';
import { makeBook } from '../transforms/world.ts';

/** Edits of rows with an Idempotency-Key go along with those without, and are as safe as every other request. */

let api: TestApi;
let second: TestServer;
let world: World;
let workbook: string;

beforeAll(async () => {
  api = await startWorkingApi();
  second = await api.another();
  world = await makeWorld(api);
});
afterAll(() => api.stop());
beforeEach(async () => {
  workbook = ok(await world.owner.client.POST('/api/v1/workbooks', { body: { title: 'Edited' } })).id;
  await makeTable(world.owner.client, workbook, '表', [{ name: '名' }, { name: '秘' }], [{ 名: 'a', 秘: 'secret 1' }]);
});

interface Sent {
  status: number;
  replayed: boolean;
  text: string;
}

async function send(key: string | null, path: string, body: object, server: TestServer = api, method = 'POST'): Promise<Sent> {
  const answer = await server.fetch(`/api/v1/workbooks/${workbook}/tables/${path}`, {
    method,
    token: world.owner.session,
    headers: { 'Content-Type': 'application/json', ...(key === null ? {} : { 'Idempotency-Key': key }) },
    body: JSON.stringify(body),
  });
  return { status: answer.status, replayed: answer.headers.get('idempotency-replayed') === 'true', text: await answer.text() };
}
const insert = (key: string | null, name: string, { version = null as number | null, server = api as TestServer, table = '表' } = {}) =>
  send(key, `${table}/rows`, { expected_version: version, rows: [{ 名: name }] }, server);
const writeRange = (key: string, server: TestServer = api) =>
  send(key, '表/range', { expected_version: null, range: 'A2:B2', values: [['b', null]] }, server, 'PUT');
const slugOf = ({ status, text }: Sent) => [status, (JSON.parse(text) as { type: string }).type.replace('urn:svc:problem:', '')];
const names = async (table = '表') => {
  const answer = ok(
    await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
      params: { path: { workbook_id: workbook, name: table }, query: { limit: 1000 } },
    }),
  );
  return (answer as { rows: object[] }).rows.map((row) => (row as { 名: string }).名);
};
const countOps = async () => (await api.sql.query('SELECT 1 FROM ops WHERE scope = $1', [workbook])).rowCount;
const keptAnswers = async () =>
  (
    await api.sql.query<{ body: Buffer; outcome: object | null; headers: object }>(
      'SELECT body, outcome, headers FROM idempotency ORDER BY created_at DESC',
    )
  ).rows;

describe('Idempotency-Key of an edit of rows', () => {
  it('is kept by the statement of the edit itself, which goes along with others', async () => {
    const statements = await watchStatements(async () => expect((await insert(randomUUID(), 'x')).status).toBe(200));
    const edits = statements.filter(({ text }) => text.includes('svc_edit_table'));
    expect(edits.map(({ name, text }) => [name, text.includes('svc_journal'), text.includes('svc_keep_answer')])).toEqual([
      ['edit_table_commit_once', true, true],
    ]);
  });

  it('gives the same bytes again, with ids of new rows and names of tables that became stale', async () => {
    const book = await makeBook({ owner: world.owner, api } as Parameters<typeof makeBook>[0]);
    workbook = book.id;
    await book.table('元', [{ name: '名' }, { name: '数' }], [{ 名: 'a', 数: '1' }]);
    await book.create({ name: '写し', template: 'SELECT 名, 数 FROM {{ s }}', args: { s: '元' }, run: true });
    const requests: [string, string, object][] = [
      ['POST', '元/rows', { expected_version: null, rows: [{ 名: 'b' }, { __svc_row_id: 1, 数: '2' }, { 名: 'c' }] }],
      ['PUT', '元/range', { expected_version: null, range: 'A2:B2', values: [['d', null]] }],
      ['PATCH', '元/rows/1', { expected_version: null, row: { 名: 'e' } }],
      ['POST', '元/rows/delete', { expected_version: null, row_ids: [2] }],
      ['DELETE', '元/rows/3?expected_version=null', {}],
    ];
    for (const [method, path, body] of requests) {
      const key = randomUUID();
      await book.recompute();
      const ask = (server: TestServer) =>
        method === 'DELETE'
          ? server
              .fetch(`/api/v1/workbooks/${workbook}/tables/${path}`, {
                method,
                token: world.owner.session,
                headers: { 'Idempotency-Key': key },
              })
              .then(async (answer) => ({
                status: answer.status,
                replayed: answer.headers.get('idempotency-replayed') === 'true',
                text: await answer.text(),
              }))
          : send(key, path, body, server, method);
      const first = await ask(api);
      expect([path, first.status, first.replayed]).toEqual([path, 200, false]);
      expect(JSON.parse(first.text)).toMatchObject({ stale: ['写し'] });
      for (const server of [api, second]) expect([path, await ask(server)]).toEqual([path, { ...first, replayed: true }]);
      if (path === '元/rows') expect(JSON.parse(first.text)).toMatchObject({ row_ids: [2, 1, 3] });
    }
  });

  it('is kept encrypted, with nothing of the cells beside it, and for a day', async () => {
    await api.sql.query('DELETE FROM idempotency');
    const key = randomUUID();
    const first = await writeRange(key);
    expect(first.text).toContain('secret 1');
    const kept = await keptAnswers();
    expect(kept).toHaveLength(1);
    expect(kept[0]?.outcome).toEqual({ editVersion: 3, opId: expect.any(Number), firstRowId: 2, stale: [] });
    const plain = `${kept[0]?.body.toString('latin1')} ${JSON.stringify([kept[0]?.outcome, kept[0]?.headers])}`;
    for (const hidden of ['secret', 'values', key]) expect(plain).not.toContain(hidden);
    await api.sql.query("UPDATE idempotency SET expires_at = now() - interval '1 second'");
    const again = await writeRange(key);
    expect([again.status, again.replayed, (JSON.parse(again.text) as { edit_version: number }).edit_version]).toEqual([200, false, 4]);
    expect(await writeRange(key)).toEqual({ ...again, replayed: true });
  });

  it('that was used for another request is refused, one after the other and at once', async () => {
    const key = randomUUID();
    expect((await insert(key, 'first')).status).toBe(200);
    expect(slugOf(await insert(key, 'other'))).toEqual([422, 'idempotency-mismatch']);
    const shared = randomUUID();
    const answers = await Promise.all(
      ['one', 'two', 'three', 'four'].map((name, i) => insert(shared, name, { server: i % 2 ? api : second })),
    );
    const done = answers.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    for (const refused of answers.filter(({ status }) => status !== 200))
      expect(slugOf(refused)).toEqual(
        expect.toBeOneOf([
          [422, 'idempotency-mismatch'],
          [409, 'idempotency-in-progress'],
        ]),
      );
    expect(await names()).toEqual(['a', 'first', expect.toBeOneOf(['one', 'two', 'three', 'four'])]);
  });

  it('that is sent 20 times at once over two processes has one effect', async () => {
    for (const version of [null, 2]) {
      const [before, ops] = [await names(), (await countOps()) ?? 0];
      const key = randomUUID();
      const sent = Array.from({ length: 20 }, (_, i) => insert(key, `crowd ${version}`, { version, server: i % 2 ? api : second }));
      const answers = await Promise.all(sent);
      const done = answers.filter(({ status }) => status === 200);
      expect(done.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(done.map(({ text }) => text)).size).toBe(1);
      for (const waiting of answers.filter(({ status }) => status !== 200))
        expect(slugOf(waiting)).toEqual([409, 'idempotency-in-progress']);
      expect([await names(), await countOps()]).toEqual([[...before, `crowd ${version}`], ops + 1]);
      if (version === null) {
        workbook = ok(await world.owner.client.POST('/api/v1/workbooks', { body: { title: 'Another' } })).id;
        await makeTable(world.owner.client, workbook, '表', [{ name: '名' }, { name: '秘' }], [{ 名: 'a' }]);
      }
    }
  });

  it('of an edit that fails among others is not remembered, and the others are done', async () => {
    const tables = Array.from({ length: 6 }, (_, i) => `t${i}`);
    for (const name of tables) await makeTable(world.owner.client, workbook, name, [{ name: '名' }], [{ 名: 'a' }]);
    await api.sql.query('DELETE FROM idempotency');
    // A stranger to the statement: the insert of its log entry fails inside the database.
    await api.sql.query(`CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.cells::text LIKE '%poison%' THEN RAISE EXCEPTION 'poisoned'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuse_row BEFORE INSERT ON row_log FOR EACH ROW EXECUTE FUNCTION refuse_row()`);
    const keys = tables.map(() => randomUUID());
    const sendAll = () =>
      Promise.all(
        tables.map((table, i) =>
          insert(keys[i] as string, i === 2 ? 'poison' : i === 4 ? 'late' : 'fine', { table, version: i === 4 ? 1 : 2 }),
        ),
      );
    try {
      const answers = await sendAll();
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 500, 200, 409, 200]);
      expect(await keptAnswers()).toHaveLength(4);
      expect(await Promise.all(tables.map((table) => names(table)))).toEqual(
        tables.map((_, i) => (i === 2 || i === 4 ? ['a'] : ['a', 'fine'])),
      );
    } finally {
      await api.sql.query('DROP FUNCTION refuse_row CASCADE');
    }
    // The key of the one that failed is free; the others are only repeated.
    expect((await sendAll()).map(({ status, replayed }) => [status, replayed])).toEqual([
      [200, true],
      [200, true],
      [200, false],
      [200, true],
      [409, false],
      [200, true],
    ]);
  });
});

describe('Idempotency-Key of an edit: policies that change meanwhile', () => {
  /** Requests that were planned under the old policies, and are committed under the new ones. */
  async function holdOver(requests: () => Promise<Sent>[], count: number): Promise<Sent[]> {
    const holder = await api.sql.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM tables WHERE workbook_id = $1 FOR UPDATE', [workbook]);
      const sent = requests();
      let isOver = false;
      void Promise.race(sent).finally(() => {
        isOver = true;
      });
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%svc_edit_table%'`;
      while (!isOver && ((await api.sql.query(waiting)).rowCount ?? 0) < count) await delay(20);
      await setPolicy(world.owner.client, workbook, 'hr', 'mask');
      await holder.query('COMMIT');
      return await Promise.all(sent);
    } finally {
      // After a failure it may be in its transaction still.
      holder.release(true);
    }
  }

  /** The lock is waited for 3 seconds at most, which may be too short where much else is going on. */
  async function untilDone(attempt: () => Promise<Sent[]>): Promise<Sent[]> {
    for (;;) {
      const answers = await attempt();
      if (answers.every(({ status }) => status !== 503)) return answers;
      await setPolicy(world.owner.client, workbook, 'hr', 'allow');
    }
  }

  it('an answer that was read before the change is not repeated after it', async () => {
    await tagColumn(world.owner.client, workbook, '表', '秘', 'hr');
    let key = '';
    const [first] = await untilDone(() => {
      key = randomUUID();
      return holdOver(() => [writeRange(key)], 1);
    });
    expect(first?.status).toBe(200);
    const again = await writeRange(key);
    expect(slugOf(again)).toEqual([422, 'idempotency-mismatch']);
    expect(again.text).not.toContain('secret');
  });

  it('of two at once, the second is not told what the first has read before the change', async () => {
    await tagColumn(world.owner.client, workbook, '表', '秘', 'hr');
    const answers = await untilDone(() => {
      const key = randomUUID();
      return holdOver(() => [writeRange(key), writeRange(key, second)], 2);
    });
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const other = answers.find(({ status }) => status !== 200) as Sent;
    expect(slugOf(other)).toEqual(
      expect.toBeOneOf([
        [422, 'idempotency-mismatch'],
        [409, 'idempotency-in-progress'],
      ]),
    );
    expect(other.text).not.toContain('secret');
  });
});
