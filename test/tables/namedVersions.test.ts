import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTablesAt, resolveAt } from '../../activities/snapshots/resolveAt.ts';
import { ok, refused } from '../setup/api.ts';
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

describe('createVersion and revertVersion: a named version', () => {
  it('pins tables under a label that is taken once and reverted to as often as wanted', async () => {
    const book = await makeBook(store, 'versions');
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
    const book = await makeBook(store, 'at');
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
    const book = await makeBook(store, 'rows at');
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
    const book = await makeBook(store, 'many at once');
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
