import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareAddColumn, prepareDropColumn, prepareRenameColumn } from '../../activities/columns/changeColumns.ts';
import { commitSnapshot } from '../../activities/snapshots/commitSnapshot.ts';
import { planRestore } from '../../activities/snapshots/planRestore.ts';
import { restoreSnapshot } from '../../activities/snapshots/restoreSnapshot.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { withRelation } from '../../store/duckdb/engine.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { ok, refused } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { watchStatements } from '../setup/statements.ts';
import { makeBook } from './book.ts';
import { openTestStore, type TestStore } from './store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.stop());

const base = '/api/v1/workbooks/{workbook_id}' as const;

type Outcome = { snapshot_id: string; restored: { name: string; edit_version: number }[]; archived: string[] };
const outcome = (answer: Parameters<typeof ok>[0]) => ok(answer) as Outcome;

describe('commitSnapshot and listSnapshots: snapshots', () => {
  it('show the editing one first; a commit closes it under its id and opens the next', async () => {
    const book = await makeBook(store, 'commit');
    await book.create('売上');
    const before = await book.list();
    expect(before.snapshots).toMatchObject([
      { state: 'editing', summary: null, committed_at: null, tables: [{ name: '売上', edit_version: 1 }] },
    ]);
    const first = await book.commit('四半期締め');
    expect(first).toMatchObject({ id: before.snapshots[0]?.id, state: 'committed', event_type: 'transform', user_id: store.owner.userId });
    await book.upsert('売上', [{ a: 'x' }]);
    const second = await book.commit('again');
    expect(second.tables).toEqual([{ name: '売上', edit_version: 2 }]);
    expect(second.created_at).toBe(first.committed_at);
    const list = await book.list();
    expect(list.snapshots.map((each) => [each.state, each.summary])).toEqual([
      ['editing', null],
      ['committed', 'again'],
      ['committed', '四半期締め'],
    ]);
    // Paged, the same in the same order.
    const ids: string[] = [];
    for (let cursor: string | undefined | null; cursor !== null; ) {
      const page = await book.list({ limit: 1, ...(cursor ? { cursor } : {}) });
      ids.push(...page.snapshots.map((each) => each.id));
      cursor = page.next_cursor;
    }
    expect(ids).toEqual(list.snapshots.map((each) => each.id));
    const { rows: ops } = await store.api.sql.query('SELECT kind, code_ref FROM ops WHERE scope = $1 AND kind LIKE $2 ORDER BY op_id', [
      book.id,
      'snapshot.%',
    ]);
    expect(ops).toEqual([
      { kind: 'snapshot.commit', code_ref: first.id },
      { kind: 'snapshot.commit', code_ref: second.id },
    ]);
    const { rows: events } = await store.api.sql.query(
      "SELECT data FROM outbox WHERE scope = $1 AND type = 'snapshot.committed' ORDER BY seq",
      [book.id],
    );
    expect(events.map((event) => event.data.snapshot_id)).toEqual([first.id, second.id]);
    const { rows: audit } = await store.api.sql.query(
      "SELECT count(*)::int AS n FROM audit_entries WHERE scope = $1 AND action = 'snapshot.commit'",
      [book.id],
    );
    expect(audit[0].n).toBe(2);
  });

  it('can be committed by many at once, each its own', async () => {
    const book = await makeBook(store, 'many');
    await book.create('t');
    const made = await Promise.all(Array.from({ length: 4 }, (_, i) => book.commit(`n${i}`)));
    expect(new Set(made.map((each) => each.id)).size).toBe(4);
    expect((await book.list()).snapshots.length).toBe(5);
  });

  it('wait for tables in the order in which a restore locks them, so that the two never wait for each other', async () => {
    const book = await makeBook(store, 'order');
    // By name, and by where its row lies, the elder comes second.
    await book.create('z');
    await book.create('a');
    await book.upsert('z', [{ a: 'x' }]);
    const holder = await store.api.sql.connect();
    try {
      const lock = (name: string) =>
        holder.query('SELECT 1 FROM tables WHERE workbook_id = $1 AND name = $2 FOR UPDATE NOWAIT', [book.id, name]);
      await holder.query('BEGIN');
      await lock('z');
      const committing = book.commit('waits');
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await expect.poll(async () => (await holder.query(waiting)).rowCount).toBe(1);
      await lock('a');
      await holder.query('COMMIT');
      expect(await committing).toMatchObject({ tables: [{ name: 'a' }, { name: 'z' }] });
    } finally {
      holder.release(true);
    }
  });

  it('ask the same of the database over half a million rows as over a thousand, and write no file', async () => {
    const listFiles = async () => (await readdir(join(store.api.config.dataDir, 'blobs'), { recursive: true })).sort();
    const commitOver = async (rows: number) => {
      await store.makeLargeTable(`rows ${rows}`, rows);
      const before = await listFiles();
      const params = { path: { workbook_id: store.workbook.id } };
      const sent = await watchStatements(async () =>
        ok(await store.owner.client.POST(`${base}/snapshots`, { params, body: { summary: 's' } })),
      );
      expect(await listFiles()).toEqual(before);
      // Requests are counted now and then, whoever sends them; a connection that served another account is told of this one.
      const others = ['request_counts', "set_config('svc.accounts'"];
      return sent.flatMap(({ text }) => (others.some((other) => text.includes(other)) ? [] : [text])).sort();
    };
    const small = await commitOver(1_000);
    expect(small.length).toBeGreaterThan(3);
    expect(await commitOver(500_000)).toEqual(small);
  });
});

describe('restoreSnapshot: a restore', () => {
  it('brings content, names and states back as new versions, and leaves alone what did not change', async () => {
    const book = await makeBook(store, 'restore');
    for (const name of ['edited', 'same', 'deleted', 'archived']) {
      await book.create(name);
      await book.upsert(name, [{ a: `${name} 1` }, { a: `${name} 2` }]);
    }
    const snapshot = await book.commit('before');
    await book.upsert('edited', [{ __svc_row_id: 1, a: 'changed' }, { a: 'new' }]);
    await book.remove('deleted');
    await book.archive('archived');
    await book.create('later');
    await book.create('deleted');

    const answer = outcome(await book.restore(snapshot.id));
    expect(answer.restored.map((each) => [each.name, each.edit_version]).sort()).toEqual([
      ['deleted', 3],
      ['edited', 4],
    ]);
    expect(answer.archived.sort()).toEqual(['deleted', 'later']);
    expect(answer.snapshot_id).toBe((await book.list()).snapshots[0]?.id);
    expect((await book.tables()).sort()).toEqual(['archived', 'deleted', 'edited', 'same']);
    expect((await book.tables('archived')).sort()).toEqual(['deleted', 'later']);
    expect((await book.read('edited')).rows.map((row) => row.a)).toEqual(['edited 1', 'edited 2']);
    expect((await book.read('deleted')).rows.map((row) => row.a)).toEqual(['deleted 1', 'deleted 2']);
    expect((await book.read('same')).edit_version).toBe(2);
    // What was there in between can still be read, and the next edit counts on, rows and versions.
    expect((await book.read('edited', { at_version: 3 })).rows.map((row) => row.a)).toEqual(['changed', 'edited 2', 'new']);
    expect(await book.upsert('edited', [{ a: 'after' }])).toMatchObject({ edit_version: 5, row_ids: [4] });
    const { rows: ops } = await store.api.sql.query(
      "SELECT table_name, edit_version::int FROM ops WHERE scope = $1 AND kind = 'snapshot.restore' ORDER BY op_id",
      [book.id],
    );
    expect(ops[0]).toEqual({ table_name: null, edit_version: null });
    expect(
      ops
        .slice(1)
        .map((op) => op.edit_version)
        .sort(),
    ).toEqual([3, 4]);
  });

  it('twice in a row changes nothing the second time', async () => {
    const book = await makeBook(store, 'twice');
    await book.create('t');
    await book.upsert('t', [{ a: '1' }]);
    const snapshot = await book.commit('s');
    await book.upsert('t', [{ a: '2' }]);
    expect(outcome(await book.restore(snapshot.id)).restored).toMatchObject([{ name: 't', edit_version: 4 }]);
    expect(outcome(await book.restore(snapshot.id)).restored).toEqual([]);
    expect((await book.read('t')).edit_version).toBe(4);
  });

  it('does not bring back edits from after it when it is restored over', async () => {
    const book = await makeBook(store, 'layers');
    await book.create('t', [{ name: 'n', type: 'BIGINT' }]);
    const rows = Array.from({ length: 1500 }, (_, n) => ({ n }));
    const { row_ids: ids } = await book.upsert('t', rows);
    const snapshot = await book.commit('s');
    await book.upsert(
      't',
      ids.map((id) => ({ __svc_row_id: id, n: -1 })),
    );
    await book.upsert('t', [{ __svc_row_id: ids[0] as number, n: -2 }]);
    ok(await book.restore(snapshot.id));
    await book.upsert('t', [{ __svc_row_id: ids[1] as number, n: 77 }]);
    expect((await book.read('t')).rows.slice(0, 3).map((row) => row.n)).toEqual([0, 77, 2]);
  });

  it('brings columns back under their ids; one added again after it is new', async () => {
    const book = await makeBook(store, 'columns');
    const { services, principal } = store;
    await book.create('t', [{ name: 'a' }, { name: 'b' }]);
    await book.upsert('t', [{ a: '1', b: 'kept' }]);
    const snapshot = await book.commit('s');
    const ids = async () => (await requireTable(services, book.id, 't')).columns.map((column) => [column.id, column.name]);
    const add = () =>
      book.change((request) => prepareAddColumn(services, principal, request, { column: 'c', type: 'BIGINT', default: 7 }), 't');
    await add();
    await book.upsert('t', [{ __svc_row_id: 1, c: 5 }]);
    await book.change((request) => prepareRenameColumn(services, principal, request, 'a', 'renamed'), 't');
    await book.change((request) => prepareDropColumn(services, principal, request, 'b'), 't');
    ok(await book.restore(snapshot.id));
    expect(await ids()).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect((await book.read('t')).rows).toEqual([{ a: '1', b: 'kept', __svc_row_id: 1 }]);
    await add();
    expect(await ids()).toEqual([
      [1, 'a'],
      [2, 'b'],
      [4, 'c'],
    ]);
    expect((await book.read('t')).rows).toEqual([{ a: '1', b: 'kept', c: 7, __svc_row_id: 1 }]);
    expect((await book.read('t', { at_version: 4 })).rows).toEqual([{ a: '1', b: 'kept', c: 5, __svc_row_id: 1 }]);
  });

  it('lets a reader that has begun end at its version', async () => {
    const book = await makeBook(store, 'reading');
    await book.create('t');
    await book.upsert('t', [{ a: 'old' }]);
    const snapshot = await book.commit('s');
    await book.upsert('t', [{ __svc_row_id: 1, a: 'new' }]);
    const { services } = store;
    const relation = await openRelation(services, seeEverything(await requireTable(services, book.id, 't')));
    const seen = await withRelation(services.engine, services.blobs, relation, async (connection, from) => {
      ok(await book.restore(snapshot.id));
      return (await connection.runAndReadAll(`SELECT a FROM ${from}`)).getRows();
    });
    expect(seen).toEqual([['new']]);
    expect((await book.read('t')).rows).toEqual([{ a: 'old', __svc_row_id: 1 }]);
  });

  it('holds against edits that go on meanwhile: each is before it or after it', async () => {
    const book = await makeBook(store, 'busy');
    await book.create('t');
    await book.create('u');
    await book.upsert('t', [{ a: 'start' }]);
    const snapshot = await book.commit('s');
    await book.upsert('t', [{ a: 'gone' }]);
    const edits = ['t', 'u', 't', 'u', 't'].map(async (name, i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 15));
      return book.upsert(name, [{ a: `edit ${i}` }]);
    });
    const answer = outcome(await book.restore(snapshot.id));
    await Promise.all(edits);
    const at = answer.restored.find((each) => each.name === 't')?.edit_version as number;
    expect((await book.read('t', { at_version: at })).rows).toEqual([{ a: 'start', __svc_row_id: 1 }]);
    const page = await book.read('t');
    expect(page.rows.length).toBe(1 + page.edit_version - at);
    expect(page.edit_version).toBe(7);
  });

  it('comes to its end when a table was edited after it was planned', async () => {
    const id = await store.makeLargeTable('edited', 10);
    const { snapshot } = await store.commit((tx) => commitSnapshot(tx, store.workbook, { summary: 's', eventType: 'test' }));
    const wanted = await store.hashContent(id);
    await store.upsert('edited', [{ __svc_row_id: 1, t: 'before the plan' }]);
    const plan = await planRestore(store.services.db, snapshot);
    await store.upsert('edited', [{ __svc_row_id: 2, t: 'after it' }]);
    const { restored } = await store.commit((tx) => restoreSnapshot(tx, store.workbook, plan, null));
    expect(restored.map(({ name }) => name)).toEqual(['edited']);
    expect(await store.hashContent(id)).toBe(wanted);
  });

  it('is planned by a few statements over all tables, and none for each', async () => {
    const own = await store.another();
    const names = Array.from({ length: 12 }, (_, i) => `t${i}`);
    for (const name of names) {
      await own.makeTable(name, [{ name: 'a', type: 'BIGINT' }]);
      await own.upsert(name, [{ a: 1 }, { a: 2 }]);
    }
    const { snapshot } = await own.commit((tx) => commitSnapshot(tx, own.workbook, { summary: 's', eventType: 'test' }));
    for (const name of names) await own.upsert(name, [{ __svc_row_id: 1, a: 10 }]);
    const statements = await watchStatements(async () => {
      const { tables } = await planRestore(own.services.db, snapshot);
      expect(tables.map(({ oldName, content }) => [oldName, content?.tailCount, content?.columns.length])).toEqual(
        names.map((name) => [name, 2, 1]),
      );
    });
    // How often a connection changes hands depends on what it did before.
    const texts = statements.filter(({ name }) => name !== 'svc_accounts').map(({ text }) => text);
    expect(texts.length).toBe(new Set(texts).size);
  });

  it('needs workbooks:delete, a committed snapshot, and one that exists', async () => {
    const book = await makeBook(store, 'refusals');
    const snapshot = await book.commit('empty');
    const weak = await mintToken(store.owner.client, { scopes: ['workbooks:read', 'workbooks:write'] });
    const path = { workbook_id: book.id, snapshot_id: snapshot.id };
    refused(await store.api.as(weak.text).POST(`${base}/snapshots/{snapshot_id}/restore`, { params: { path } }), 403, 'missing-scope');
    refused(await book.restore((await book.list()).snapshots[0]?.id ?? ''), 409, 'in-use');
    refused(await book.restore('snp_00000000000000000000000000'), 404, 'not-found');
    refused(await book.restore('what'), 404, 'not-found');
  });
});
