import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { prepareAddColumn, prepareDropColumn, prepareRenameColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange, type PreparedColumnChange } from '../../activities/columns/openColumn.ts';
import { commitSnapshot } from '../../activities/snapshots/commitSnapshot.ts';
import { planRestore } from '../../activities/snapshots/planRestore.ts';
import { openTablesAt, resolveAt } from '../../activities/snapshots/resolveAt.ts';
import { restoreSnapshot } from '../../activities/snapshots/restoreSnapshot.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { withRelation } from '../../store/duckdb/engine.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { ok, refused } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { watchStatements } from '../setup/statements.ts';
import { editRows, makeTable, type WantedColumn } from '../setup/tables.ts';
import { openTestStore, type TestStore } from './store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.stop());

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** A workbook of its own, through HTTP: every answer is held against the contract. */
async function makeBook(title: string) {
  const { client } = store.owner;
  const { id } = ok(await client.POST('/api/v1/workbooks', { body: { title } }));
  const book = { workbook_id: id };
  const table = (name: string) => ({ path: { workbook_id: id, name } });
  return {
    id,
    create: (name: string, columns: WantedColumn[] = [{ name: 'a' }]) => makeTable(client, id, name, columns),
    upsert: (name: string, rows: Record<string, unknown>[]) => editRows(client, id, name, rows),
    read: async (name: string, query: { at_version?: number; at?: string; filter?: string; sort?: string[] } = {}) => {
      const page = ok(await client.GET(`${base}/tables/{name}/rows`, { params: { ...table(name), query } }));
      if (typeof page === 'string') throw new Error('not JSON');
      return page;
    },
    remove: async (name: string) =>
      ok(await client.DELETE(`${base}/tables/{name}`, { params: { ...table(name), query: { expected_version: 'null' } } })),
    archive: async (name: string) => ok(await client.POST(`${base}/artifacts/{name}/archive`, { params: table(name) })),
    tables: async (state: 'active' | 'archived' = 'active') =>
      ok(await client.GET(`${base}/tables`, { params: { path: book, query: { state } } })).tables.map((each) => each.name),
    list: async (query: { limit?: number; cursor?: string } = {}) =>
      ok(await client.GET(`${base}/snapshots`, { params: { path: book, query } })),
    commit: async (summary: string) => ok(await client.POST(`${base}/snapshots`, { params: { path: book }, body: { summary } })),
    restore: (snapshot_id: string) =>
      client.POST(`${base}/snapshots/{snapshot_id}/restore`, { params: { path: { ...book, snapshot_id } } }),
    label: (label: string, summary: string | null = null) =>
      client.POST(`${base}/versions`, { params: { path: book }, body: { label, summary } }),
    version: (label: string) => client.GET(`${base}/versions/{label}`, { params: { path: { ...book, label } } }),
    versions: async () => ok(await client.GET(`${base}/versions`, { params: { path: book } })).versions,
    revert: (label: string) => client.POST(`${base}/versions/{label}/revert`, { params: { path: { ...book, label } } }),
    change: (
      prepare: (request: { workbookId: string; name: string; expectedVersion: null }) => Promise<PreparedColumnChange>,
      name: string,
    ) => prepare({ workbookId: id, name, expectedVersion: null }).then((prepared) => store.commit((tx) => applyColumnChange(tx, prepared))),
  };
}

type Outcome = { snapshot_id: string; restored: { name: string; edit_version: number }[]; archived: string[] };
const outcome = (answer: Parameters<typeof ok>[0]) => ok(answer) as Outcome;

describe('commitSnapshot and listSnapshots: snapshots', () => {
  it('show the editing one first; a commit closes it under its id and opens the next', async () => {
    const book = await makeBook('commit');
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
    const book = await makeBook('many');
    await book.create('t');
    const made = await Promise.all(Array.from({ length: 4 }, (_, i) => book.commit(`n${i}`)));
    expect(new Set(made.map((each) => each.id)).size).toBe(4);
    expect((await book.list()).snapshots.length).toBe(5);
  });

  it('wait for tables in the order in which a restore locks them, so that the two never wait for each other', async () => {
    const book = await makeBook('order');
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

  it('take as long over half a million rows as over a thousand', async () => {
    const time = async (rows: number) => {
      await store.makeLargeTable(`rows ${rows}`, rows);
      const times: number[] = [];
      for (let i = 0; i < 7; i += 1) {
        const start = performance.now();
        ok(
          await store.owner.client.POST(`${base}/snapshots`, {
            params: { path: { workbook_id: store.workbook.id } },
            body: { summary: 's' },
          }),
        );
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b)[3] as number;
    };
    const small = await time(1_000);
    expect(await time(500_000)).toBeLessThan(3 * small + 20);
  });
});

describe('restoreSnapshot: a restore', () => {
  it('brings content, names and states back as new versions, and leaves alone what did not change', async () => {
    const book = await makeBook('restore');
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
    const book = await makeBook('twice');
    await book.create('t');
    await book.upsert('t', [{ a: '1' }]);
    const snapshot = await book.commit('s');
    await book.upsert('t', [{ a: '2' }]);
    expect(outcome(await book.restore(snapshot.id)).restored).toMatchObject([{ name: 't', edit_version: 4 }]);
    expect(outcome(await book.restore(snapshot.id)).restored).toEqual([]);
    expect((await book.read('t')).edit_version).toBe(4);
  });

  it('does not bring back edits from after it when it is restored over', async () => {
    const book = await makeBook('layers');
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
    const book = await makeBook('columns');
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
    const book = await makeBook('reading');
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
    const book = await makeBook('busy');
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
    const book = await makeBook('refusals');
    const snapshot = await book.commit('empty');
    const weak = await mintToken(store.owner.client, { scopes: ['workbooks:read', 'workbooks:write'] });
    const path = { workbook_id: book.id, snapshot_id: snapshot.id };
    refused(await store.api.as(weak.text).POST(`${base}/snapshots/{snapshot_id}/restore`, { params: { path } }), 403, 'missing-scope');
    refused(await book.restore((await book.list()).snapshots[0]?.id ?? ''), 409, 'in-use');
    refused(await book.restore('snp_00000000000000000000000000'), 404, 'not-found');
    refused(await book.restore('what'), 404, 'not-found');
  });
});

describe('createVersion and revertVersion: a named version', () => {
  it('pins tables under a label that is taken once and reverted to as often as wanted', async () => {
    const book = await makeBook('versions');
    await book.create('売上');
    await book.upsert('売上', [{ a: '1' }]);
    const label = '2024年度 確定/最終 "🎉"';
    const made = ok(await book.label(label, '監査後'));
    expect(made).toMatchObject({ label, summary: '監査後', tables: [{ name: '売上', edit_version: 2 }] });
    refused(await book.label(label), 409, 'name-taken');
    refused(await book.label('  '), 422, 'validation-failed');
    refused(await book.label(made.snapshot_id), 422, 'validation-failed');
    for (const dots of ['.', '..']) refused(await book.label(dots), 422, 'validation-failed');
    // Blanks around a label are refused, and looked for as they come.
    refused(await book.label(` ${label} `), 422, 'validation-failed');
    refused(await book.version(` ${label} `), 404, 'not-found');
    expect((await resolveAt(store.services, book.id, label)).snapshotId).toBe(made.snapshot_id);
    expect(ok(await book.version(label))).toEqual(made);
    expect((await book.list()).snapshots.map((each) => each.versions)).toEqual([[], [label]]);
    await book.upsert('売上', [{ a: '2' }]);
    ok(await book.label('second'));
    expect((await book.versions()).map((each) => each.label)).toEqual(['second', label]);
    expect(outcome(await book.revert(label)).restored).toMatchObject([{ name: '売上', edit_version: 4 }]);
    expect((await book.read('売上')).row_count).toBe(1);
    refused(await book.version('unknown'), 404, 'not-found');
    refused(await book.revert('unknown'), 404, 'not-found');
    const { rows } = await store.api.sql.query(
      "SELECT kind FROM ops WHERE scope = $1 AND kind LIKE 'version.%' AND table_id IS NULL ORDER BY op_id",
      [book.id],
    );
    expect(rows.map((row) => row.kind)).toEqual(['version.commit', 'version.commit', 'version.revert']);
    const { rows: events } = await store.api.sql.query(
      "SELECT data FROM outbox WHERE scope = $1 AND type = 'snapshot.committed' ORDER BY seq",
      [book.id],
    );
    expect(events.map(({ data }) => [data.snapshot_id === made.snapshot_id, data.label])).toEqual([
      [true, label],
      [false, 'second'],
    ]);
  });

  it('stands for the tables of its moment, those deleted since too, by label or snapshot id', async () => {
    const book = await makeBook('at');
    await book.create('gone');
    await book.upsert('gone', [{ a: 'still here' }]);
    const version = ok(await book.label('v1'));
    await book.upsert('gone', [{ a: 'later' }]);
    await book.remove('gone');
    for (const text of ['v1', version.snapshot_id]) {
      const resolved = await resolveAt(store.services, book.id, text);
      const tables = await openTablesAt(store.services, resolved, ['GONE']);
      expect(tables.map((at) => [at.table.name, at.editVersion, at.rowCount])).toEqual([['gone', 2, 1]]);
    }
    await expect(resolveAt(store.services, book.id, 'v2')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('is where rows can be read, by label or snapshot id, those of a table that was deleted since too', async () => {
    const book = await makeBook('rows at');
    await book.create('売上', [{ name: 'a' }]);
    await book.upsert('売上', [{ a: 'x' }, { a: 'y' }]);
    ok(await book.label('締め'));
    await book.upsert('売上', [{ __svc_row_id: 1, a: 'z' }]);
    const later = await book.commit('later');
    await book.remove('売上');
    const then = { name: '売上', edit_version: 2, rows: [{ a: 'x' }, { a: 'y' }] };
    expect(await book.read('売上', { at: '締め' })).toMatchObject(then);
    expect(await book.read('売上', { at: '締め', sort: ['a:desc'] })).toMatchObject({ rows: [{ a: 'y' }, { a: 'x' }] });
    expect(await book.read('売上', { at: '締め', filter: "a = 'y'" })).toMatchObject({ rows: [{ a: 'y' }] });
    expect(await book.read('売上', { at: later.id })).toMatchObject({ edit_version: 3, rows: [{ a: 'z' }, { a: 'y' }] });
    const read = (name: string, query: { at?: string; at_version?: number }) =>
      store.owner.client.GET(`${base}/tables/{name}/rows`, { params: { path: { workbook_id: book.id, name }, query } });
    refused(await read('売上', {}), 404, 'not-found');
    refused(await read('売上', { at: '無い' }), 404, 'not-found');
    refused(await read('仕入', { at: '締め' }), 404, 'not-found');
    refused(await read('売上', { at: '締め', at_version: 2 }), 422, 'validation-failed');
  });

  it('opens any number of tables by one statement', async () => {
    const book = await makeBook('many at once');
    for (const name of ['t', 'u', 'v']) {
      await book.create(name);
      await book.upsert(name, [{ a: name }]);
    }
    ok(await book.label('v1'));
    for (const name of ['t', 'u', 'v']) await book.upsert(name, [{ a: 'later' }]);
    const resolved = await resolveAt(store.services, book.id, 'v1');
    const sent = vi.spyOn(store.services.db.pool, 'query');
    const opened = await openTablesAt(store.services, resolved);
    expect(sent).toHaveBeenCalledTimes(1);
    sent.mockRestore();
    expect(opened.map((at) => [at.table.name, at.editVersion, at.rowCount])).toEqual(['t', 'u', 'v'].map((name) => [name, 2, 1]));
  });
});
