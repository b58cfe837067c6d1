import { rm, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareAddColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange } from '../../activities/columns/openColumn.ts';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { ok } from '../setup/api.ts';
import { openTestStore, type TestStore } from './store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.stop());

const current = async (tableId: string) => (await listTablesById(store.services.db.pool, [tableId]))[0] as TableAt;

/** Rows enough that their entries are worth a file. */
const longEdit = (mark: string, first = 1) =>
  Array.from({ length: 300 }, (_, i) => ({ __svc_row_id: first + i, t: `${mark} ${i} ${'x'.repeat(100)}` }));

async function makeEdited(name: string): Promise<string> {
  const id = await store.makeLargeTable(name, 3000);
  await store.upsert(name, longEdit('first'));
  return id;
}

/** Reads until the log of this version is in a file. */
async function awaitFile(tableId: string): Promise<string> {
  await expect
    .poll(async () => {
      await store.readContent(tableId);
      const relation = await openRelation(store.services, seeEverything(await current(tableId)));
      return relation.tail === null ? relation.tailFile : null;
    })
    .not.toBeNull();
  return store.services.tails.find(await current(tableId))?.path ?? '';
}

describe('tailFiles: a long log', () => {
  it('is loaded at the first reading, and is a file from then on', async () => {
    const id = await makeEdited('read_twice');
    const before = await store.readContent(id);
    expect(store.services.tails.find(await current(id))).toBeNull();
    await awaitFile(id);
    expect(await store.readContent(id)).toEqual(before);
  });

  it('stays a file while the table is edited: only what came since is loaded', async () => {
    const id = await makeEdited('edited_on');
    const file = await awaitFile(id);
    await store.upsert('edited_on', [
      { __svc_row_id: 5, t: 'second' },
      { n: 1, t: 'new' },
    ]);
    await store.remove('edited_on', [6, 3000]);
    const relation = await openRelation(store.services, seeEverything(await current(id)));
    expect(relation.tailFile).toBe(file);
    expect(JSON.parse(relation.tail?.json ?? '[]')).toHaveLength(4);
    const { rows } = await store.readContent(id);
    expect(rows).toHaveLength(2999);
    expect(rows[4]).toEqual(['35', 'second', '5']);
    expect(rows[5]?.[2]).toBe('7');
    expect(rows.at(-1)).toEqual(['1', 'new', '3001']);
  });

  it('gets another file when much has come since', async () => {
    const id = await makeEdited('edited_much');
    const first = await awaitFile(id);
    await store.upsert('edited_much', longEdit('second', 200));
    expect(await awaitFile(id)).not.toBe(first);
    const { rows } = await store.readContent(id);
    expect(rows[198]?.[1]).toContain('first 198');
    expect(rows[199]?.[1]).toContain('second 0');
  });

  it('is read as it was at older versions, and after a compaction', async () => {
    const id = await makeEdited('looked_back');
    const second = await store.hashContent(id, 2);
    await store.upsert('looked_back', [{ __svc_row_id: 1, t: 'third' }]);
    const third = await store.hashContent(id, 3);
    await awaitFile(id);
    expect(await store.hashContent(id, 2)).toBe(second);
    await compactTable(store.services, id, { heartbeat() {} }, { ...compactionLimits, tail: 0 });
    expect((await openRelation(store.services, seeEverything(await current(id)))).tailFile).toBeNull();
    expect(await store.hashContent(id, 3)).toBe(third);
    expect(await store.hashContent(id, 2)).toBe(second);
  });

  it('is loaded again when its file was cleared away or written over', async () => {
    const id = await makeEdited('cleared');
    const before = await store.readContent(id);
    const clear = (path: string) => rm(dirname(path), { recursive: true });
    for (const spoil of [clear, rm, (path: string) => truncate(path, 100), (path: string) => writeFile(path, 'not Parquet')]) {
      await spoil(await awaitFile(id));
      expect(await store.readContent(id)).toEqual(before);
    }
  });

  it('is not taken from a file of a version that a crash undid', async () => {
    const id = await makeEdited('undone');
    await awaitFile(id);
    // What a crash does: the version is issued again, with other content and so with another uid.
    const { pool } = store.services.db;
    await pool.query(`UPDATE row_log SET cells = json_build_object('1', '7', '2', 'other') WHERE table_id = $1 AND row_id = 1`, [id]);
    await pool.query(`UPDATE table_versions SET uid = uid || 'x' WHERE table_id = $1 AND edit_version = 2`, [id]);
    await pool.query(`UPDATE tables SET version_uid = version_uid || 'x' WHERE id = $1`, [id]);
    expect((await store.readContent(id)).rows[0]).toEqual(['7', 'other', '1']);
    await store.upsert('undone', [{ __svc_row_id: 2, t: 'next' }]);
    expect((await store.readContent(id)).rows[0]).toEqual(['7', 'other', '1']);
  });

  it('answers queries from the file, and gives a column that came later its default', async () => {
    const { client } = store.owner;
    const id = await makeEdited('queried');
    await awaitFile(id);
    const { services, principal, workbook } = store;
    const request = { workbookId: workbook.id, name: 'queried', expectedVersion: null };
    const added = await prepareAddColumn(services, principal, request, { column: 'late', type: 'BIGINT', default: '9' });
    await store.commit((tx) => applyColumnChange(tx, added));
    await store.upsert('queried', [{ __svc_row_id: 3, late: null }]);
    for (let round = 0; round < 4; round += 1) {
      const answer = ok(
        await client.POST('/api/v1/workbooks/{workbook_id}/query', {
          params: { path: { workbook_id: store.workbook.id } },
          body: { sql: `SELECT late, left(t, 5) AS t, count(*) AS n FROM queried GROUP BY ALL ORDER BY ALL` },
        }),
      );
      expect(answer).toHaveProperty('rows', [
        { late: 9, t: 'first', n: 299 },
        { late: 9, t: 'text ', n: 2700 },
        { late: null, t: 'first', n: 1 },
      ]);
    }
  });
});
