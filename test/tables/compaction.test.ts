import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareAddColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange, type PreparedColumnChange } from '../../activities/columns/openColumn.ts';
import { prepareRetypeColumn } from '../../activities/columns/retypeColumn.ts';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { readRowHistory } from '../../activities/rows/rowHistory.ts';
import { commitSnapshot } from '../../activities/snapshots/commitSnapshot.ts';
import { planRestore } from '../../activities/snapshots/planRestore.ts';
import { restoreSnapshot } from '../../activities/snapshots/restoreSnapshot.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import { openVisibleHistory } from '../../activities/tables/openVisibleTable.ts';
import { chooseFileRows, compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { listTablesToCompact } from '../../store/pg/compaction.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { openTestStore, type TestStore } from './store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.stop());

const quiet = { heartbeat() {} };
const eager = { ...compactionLimits, tail: 0, deltaShare: 1e9 };
const thorough = { ...compactionLimits, tail: 0, deltas: 1 };

const current = async (tableId: string) => (await listTablesById(store.services.db.pool, [tableId]))[0] as TableAt;
const kinds = async (tableId: string) => (await current(tableId)).layers.map((layer) => layer.kind);

async function listBlobs(tableId: string): Promise<string[]> {
  const { workbook, services } = store;
  const keys: string[] = [];
  for await (const { key } of services.blobs.list(`${workbook.accountId}/${workbook.id}/${tableId}`)) keys.push(key);
  return keys.sort();
}

/** The real blob store, with something happening after each file is there. */
function afterPut(happen: (n: number) => Promise<void>): Services {
  let puts = 0;
  const put: BlobStore['put'] = async (...args) => {
    const result = await store.services.blobs.put(...args);
    puts += 1;
    await happen(puts);
    return result;
  };
  return { ...store.services, blobs: Object.create(store.services.blobs, { put: { value: put } }) as BlobStore };
}

const change = async (prepared: Promise<PreparedColumnChange>) => {
  const ready = await prepared;
  return store.commit((tx) => applyColumnChange(tx, ready));
};
const request = (name: string) => ({ workbookId: store.workbook.id, name, expectedVersion: null });

const tellHistory = async (name: string, rowId: number) => {
  const { services, principal, workbook } = store;
  const visible = await openVisibleHistory(services, principal, await requireTable(services, workbook.id, name));
  return (await readRowHistory(services, visible, rowId, { limit: 100 })).items;
};

/** A table of many layers: segments, log, deltas, deletions, a column that came late. */
async function makeLayered(name: string): Promise<string> {
  const id = await store.makeLargeTable(name, 3000);
  await store.upsert(name, [
    { __svc_row_id: 1, t: 'log' },
    { n: 1, t: null },
  ]);
  await store.upsert(
    name,
    Array.from({ length: 1200 }, (_, i) => ({ __svc_row_id: i + 1, n: -i })),
  );
  await store.remove(name, [5, 6, 7]);
  await change(prepareAddColumn(store.services, store.principal, request(name), { column: 'c', type: 'DECIMAL(10,2)', default: '7.50' }));
  await store.upsert(name, [{ __svc_row_id: 8, c: null }, { __svc_row_id: 9, t: '日本 "x"\n' }, { c: '1.25' }]);
  return id;
}

describe('compactTable', () => {
  it('freezes a long tail into a delta and changes the content of no version', async () => {
    const id = await store.makeLargeTable('frozen', 20_000);
    for (let i = 0; i < 3; i += 1)
      await store.upsert(
        'frozen',
        Array.from({ length: 400 }, (_, n) => ({ __svc_row_id: i * 200 + n + 1, t: `edit ${i}` })),
      );
    expect((await current(id)).table.tailCount).toBe(1200);
    expect((await listTablesToCompact(store.services.db.pool, compactionLimits)).map((table) => table.id)).toContain(id);
    const before = await store.hashVersions(id);
    expect(await compactTable(store.services, id, quiet)).toBe('frozen');
    expect(await kinds(id)).toEqual(['segment', 'delta', 'log']);
    expect(await store.hashVersions(id)).toEqual(before);
    const after = await current(id);
    expect([after.editVersion, after.table.tailCount]).toEqual([4, 0]);
    expect(after.layers[1]).toMatchObject({ rows: 800, after: 1, upTo: 4 });
    // History reads the log: its entries are all still there.
    const { rows } = await store.api.sql.query('SELECT count(*)::int AS n FROM row_log WHERE table_id = $1', [id]);
    expect(rows[0].n).toBe(1200);
    // Until nothing reads them as layers any more: then they are moved to a file, and history reads that.
    const told = await tellHistory('frozen', 1);
    expect(await compactTable(store.services, id, quiet)).toBe('nothing');
    expect((await store.api.sql.query('SELECT 1 FROM row_log WHERE table_id = $1', [id])).rowCount).toBe(0);
    expect((await store.api.sql.query('SELECT kind, rows, after::int, up_to::int FROM log_files WHERE table_id = $1', [id])).rows).toEqual([
      { kind: 'log', rows: 1200, after: 0, up_to: 4 },
    ]);
    expect(await tellHistory('frozen', 1)).toEqual(told);
    expect(told.map(({ kind }) => kind)).toEqual(['update']);
    expect(await store.hashVersions(id)).toEqual(before);
    await store.upsert('frozen', [{ __svc_row_id: 1, t: 'after' }]);
    expect((await tellHistory('frozen', 1)).length).toBe(2);
    expect((await store.readContent(id)).rows[0]).toEqual(['7', 'after', '1']);
    expect((await current(id)).table.tailCount).toBe(1);
  });

  it('folds all layers into sorted segments within the limits', async () => {
    const id = await makeLayered('folded');
    const before = await store.hashVersions(id);
    expect(await compactTable(store.services, id, quiet, { ...thorough, fileRows: 700 })).toBe('compacted');
    expect(await store.hashVersions(id)).toEqual(before);
    const { layers, table, rowCount } = await current(id);
    const segments = layers.filter((layer) => layer.kind === 'segment');
    expect(await kinds(id)).toEqual([...segments.map(() => 'segment'), 'log']);
    expect(segments.map((segment) => segment.rows)).toEqual([700, 700, 700, 700, rowCount - 2800]);
    expect(segments.every((segment, i) => i === 0 || segment.minRow > (segments[i - 1]?.maxRow ?? 0))).toBe(true);
    expect(table.tailCount).toBe(0);
    // Again, from segments alone and after more edits.
    await store.remove('folded', [1, 2]);
    await store.upsert('folded', [{ n: 5 }]);
    const then = await store.hashVersions(id);
    expect(await compactTable(store.services, id, quiet, thorough)).toBe('compacted');
    expect(await store.hashVersions(id)).toEqual(then);
  });

  it('chooses files that are neither too large nor too many', async () => {
    expect(chooseFileRows(1_000_000, 100, compactionLimits)).toBe(204_800);
    expect(chooseFileRows(1_000_000, 10_000, compactionLimits)).toBe(20_000);
    expect(chooseFileRows(100_000, 10_000, compactionLimits)).toBe(5368);
    const id = await store.makeLargeTable('wide', 60_000);
    await store.upsert(
      'wide',
      Array.from({ length: 1001 }, (_, i) => ({ __svc_row_id: i + 1, t: 'x' })),
    );
    const limits = { ...thorough, fileBytes: 500_000, fileRows: 50_000 };
    expect(await compactTable(store.services, id, quiet, limits)).toBe('compacted');
    const files = (await current(id)).layers.filter((layer) => layer.kind === 'segment');
    expect(files.length).toBeGreaterThan(2);
    expect(Math.max(...files.map((file) => file.bytes))).toBeLessThanOrEqual(500_000);
    expect((await store.readContent(id)).rows.length).toBe(60_000);
    const groups = await store.services.engine.use(async (connection) => {
      const opened = await store.services.blobs.open([files[0]?.key as string]);
      const reader = await connection.runAndReadAll(
        `SELECT max(row_group_num_rows)::INTEGER FROM parquet_metadata('${opened.pathOf(files[0]?.key as string)}')`,
      );
      opened.release();
      return reader.getRows()[0]?.[0];
    });
    expect(groups).toBeLessThanOrEqual(20_480);
  });

  it('of a table whose rows are all gone leaves an empty table', async () => {
    const id = await store.makeTable('emptied', [{ name: 'a', type: 'VARCHAR' }]);
    const { rowIds } = await store.upsert('emptied', [{ a: '1' }, { a: '2' }]);
    await store.remove('emptied', rowIds);
    const before = await store.hashVersions(id);
    expect(await compactTable(store.services, id, quiet, thorough)).toBe('compacted');
    expect(await kinds(id)).toEqual(['log']);
    expect(await store.hashVersions(id)).toEqual(before);
    expect((await store.upsert('emptied', [{ a: '3' }])).rowIds).toEqual([3]);
  });

  it('keeps defaults apart from nulls: old segment, old log entry, explicit null', async () => {
    const id = await store.makeLargeTable('defaults', 2);
    await store.upsert('defaults', [{ __svc_row_id: 2, t: 'logged' }]);
    await change(prepareAddColumn(store.services, store.principal, request('defaults'), { column: 'c', type: 'BIGINT', default: 7 }));
    await store.upsert('defaults', [{ n: 3, c: null }]);
    const column = async () => (await store.readContent(id)).rows.map((row) => row[2]);
    expect(await column()).toEqual(['7', '7', null]);
    expect(await compactTable(store.services, id, quiet, eager)).toBe('frozen');
    expect(await column()).toEqual(['7', '7', null]);
    expect(await compactTable(store.services, id, quiet, thorough)).toBe('compacted');
    expect(await column()).toEqual(['7', '7', null]);
  });
});

describe('compactTable: entries that were moved to a file', () => {
  const eager = { ...thorough, moved: 1 };

  it('are read from there by versions that a restore brings back, by undo, and by a reader who came before', async () => {
    const own = await store.another();
    const id = await own.makeTable('t', [{ name: 'a', type: 'BIGINT' }]);
    const { rowIds } = await own.upsert('t', [{ a: 1 }, { a: 2 }]);
    const { snapshot } = await own.commit((tx) => commitSnapshot(tx, own.workbook, { summary: 's', eventType: 'test' }));
    await own.upsert('t', [{ __svc_row_id: rowIds[0], a: 10 }]);
    const [early] = await listTablesById(own.services.db.pool, [id]);
    const before = await own.hashVersions(id);
    for (let outcome = ''; outcome !== 'nothing'; ) outcome = await compactTable(own.services, id, quiet, eager);
    expect((await store.api.sql.query('SELECT 1 FROM row_log WHERE table_id = $1', [id])).rowCount).toBe(0);
    expect(await own.hashVersions(id)).toEqual(before);
    // The manifest that this reader holds still says that everything is in the log.
    expect(early?.layers).toEqual([{ kind: 'log', after: 1, upTo: null }]);
    expect(await readStoredRows(own.services, early as TableAt, rowIds)).toEqual(
      new Map([
        [rowIds[0], { 1: '10' }],
        [rowIds[1], { 1: '2' }],
      ]),
    );
    const plan = await planRestore(own.services.db, snapshot);
    await own.commit((tx) => restoreSnapshot(tx, own.workbook, plan, null));
    expect((await own.readContent(id)).rows.map(([a]) => a)).toEqual(['1', '2']);
    await own.upsert('t', [{ __svc_row_id: rowIds[1], a: 20 }]);
    expect((await own.readContent(id)).rows.map(([a]) => a)).toEqual(['1', '20']);
    Object.assign(before, await own.hashVersions(id));
    for (let outcome = ''; outcome !== 'nothing'; ) outcome = await compactTable(own.services, id, quiet, eager);
    expect(await own.hashVersions(id)).toEqual(before);
    const { rows } = await store.api.sql.query(`SELECT after::int, up_to::int FROM log_files WHERE table_id = $1 ORDER BY up_to`, [id]);
    expect(rows).toEqual([
      { after: 0, up_to: 3 },
      { after: 3, up_to: 5 },
    ]);
  });

  it('are in one place only, whoever moves them at the same time', async () => {
    const id = await store.makeTable('moved twice', [{ name: 'a', type: 'BIGINT' }]);
    for (let a = 0; a < 5; a += 1) await store.upsert('moved twice', [{ a }]);
    await compactTable(store.services, id, quiet, eager);
    await Promise.all(Array.from({ length: 4 }, () => compactTable(store.services, id, quiet, eager)));
    const { rows } = await store.api.sql.query('SELECT rows, key FROM log_files WHERE table_id = $1', [id]);
    expect(rows.map((row) => row.rows)).toEqual([5]);
    expect((await listBlobs(id)).filter((key) => key === rows[0].key).length).toBe(1);
    expect((await listBlobs(id)).length).toBe(2);
  });
});

describe('compactTable: while it runs', () => {
  it.each(['frozen', 'compacted'] as const)('edits and new columns go through and stay (%s)', async (expected) => {
    const name = `busy ${expected}`;
    const id = await makeLayered(name);
    const hashes = await store.hashVersions(id);
    const { services, principal } = store;
    const busy = afterPut(async (n) => {
      if (n > 1) return;
      await store.upsert(name, [{ __svc_row_id: 3, t: 'meanwhile' }, { t: 'new' }]);
      await change(prepareAddColumn(services, principal, request(name), { column: 'd', type: 'BIGINT', default: 9 }));
      await store.remove(name, [10]);
      Object.assign(hashes, await store.hashVersions(id));
    });
    expect(await compactTable(busy, id, quiet, expected === 'frozen' ? eager : { ...thorough, fileRows: 1000 })).toBe(expected);
    expect((await current(id)).table.tailCount).toBe(3);
    expect(await store.hashVersions(id)).toEqual(hashes);
    const { rows } = await store.readContent(id);
    expect(rows.find((row) => row.at(-1) === '3')).toEqual(['-2', 'meanwhile', '7.50', '9', '3']);
    expect(rows.some((row) => row.at(-1) === '10')).toBe(false);
  });

  const long = 'x'.repeat(20_000);

  it.each(['frozen', 'compacted'] as const)(
    'layers that edits add stay on top, and so does the log between them (%s)',
    async (expected) => {
      const name = `added ${expected}`;
      const id = await makeLayered(name);
      // With entries in the log that was open, and with none in it.
      for (const isEmpty of [false, true]) {
        await store.upsert(name, [{ __svc_row_id: 4, t: isEmpty ? long : 'short' }]);
        if (!isEmpty) await store.upsert(name, [{ __svc_row_id: 4, n: 44 }]);
        const hashes = await store.hashVersions(id);
        const busy = afterPut(async (n) => {
          if (n > 1) return;
          await store.upsert(name, [{ __svc_row_id: 3, t: long }]);
          await store.upsert(name, [{ __svc_row_id: 11, t: 'log' }, { t: 'logged' }]);
          await store.upsert(name, [{ t: long }, { t: long }]);
          await store.remove(name, [isEmpty ? 12 : 13]);
          await store.upsert(name, [{ __svc_row_id: 11, t: long }]);
          Object.assign(hashes, await store.hashVersions(id));
        });
        const limits = expected === 'frozen' ? { ...eager, tail: -1, deltas: 1000 } : { ...thorough, tail: -1, fileRows: 100_000 };
        expect(await compactTable(busy, id, quiet, limits)).toBe(expected);
        expect((await kinds(id)).slice(-6)).toEqual(['delta', 'log', 'segment', 'log', 'delta', 'log']);
        expect((await current(id)).table.tailCount).toBe(3);
        expect(await store.hashVersions(id)).toEqual(hashes);
      }
      expect(await compactTable(store.services, id, quiet, thorough)).toBe('compacted');
      expect(await kinds(id)).toEqual(['segment', 'log']);
    },
  );

  it('an edit that was planned before it adds its layer to what it made', async () => {
    const id = await makeLayered('planned before');
    await store.upsert('planned before', [{ __svc_row_id: 4, t: long }]);
    const busy = afterPut(async () => {
      expect(await compactTable(store.services, id, quiet, thorough)).toBe('compacted');
    });
    await store.upsert('planned before', [{ __svc_row_id: 3, t: long }], null, busy);
    expect(await kinds(id)).toEqual(['segment', 'delta', 'log']);
    const { rows } = await store.readContent(id);
    expect(rows.filter((row) => row[1] === long).map((row) => row.at(-1))).toEqual(['3', '4']);
  });

  it('other columns under other layers make the swap fail, and the next one comes through', async () => {
    const id = await makeLayered('columns and layers');
    const hashes = await store.hashVersions(id);
    const { services, principal } = store;
    const busy = afterPut(async (n) => {
      if (n > 1) return;
      await change(prepareAddColumn(services, principal, request('columns and layers'), { column: 'd', type: 'BIGINT', default: 9 }));
      await store.upsert('columns and layers', [{ __svc_row_id: 3, t: long }]);
      Object.assign(hashes, await store.hashVersions(id));
    });
    expect(await compactTable(busy, id, quiet, thorough)).toBe('moved');
    expect(await store.hashVersions(id)).toEqual(hashes);
    expect(await compactTable(services, id, quiet, thorough)).toBe('compacted');
    expect(await store.hashVersions(id)).toEqual(hashes);
  });

  it('a retype makes the swap fail, and its files go', async () => {
    const id = await makeLayered('retyped');
    const { services, principal } = store;
    let before: string[] = [];
    const busy = afterPut(async (n) => {
      if (n > 1) return;
      await change(prepareRetypeColumn(services, principal, request('retyped'), 'n', 'VARCHAR'));
      const { layers } = await current(id);
      before = layers.flatMap((layer) => (layer.kind === 'log' ? [] : [layer.key]));
    });
    const hash = store.hashContent;
    expect(await compactTable(busy, id, quiet, { ...thorough, fileRows: 1000 })).toBe('moved');
    const { layers } = await current(id);
    expect(layers.flatMap((layer) => (layer.kind === 'log' ? [] : [layer.key]))).toEqual(before);
    // What is left is what some manifest or the history names.
    const { rows } = await store.api.sql.query<{ key: string }>(
      `SELECT DISTINCT l->>'key' AS key FROM manifests m, jsonb_array_elements(m.layers) l WHERE table_id = $1 AND l ? 'key'
       UNION SELECT key FROM log_files WHERE table_id = $1`,
      [id],
    );
    expect((await listBlobs(id)).filter((key) => !rows.some((row) => row.key === key))).toEqual([]);
    expect((await store.readContent(id)).columns[0]).toEqual(['n', 'VARCHAR']);
    expect(await hash(id)).toBe(await hash(id, await store.currentVersion(id)));
  });

  it('a restore makes the swap fail, and what was restored stays', async () => {
    const id = await makeLayered('restored over');
    const { snapshot } = await store.commit((tx) => commitSnapshot(tx, store.workbook, { summary: 's', eventType: 'test' }));
    const wanted = await store.hashContent(id);
    await store.upsert('restored over', [{ __svc_row_id: 20, t: 'to go' }]);
    const files = await listBlobs(id);
    const busy = afterPut(async (n) => {
      if (n > 1) return;
      const plan = await planRestore(store.services.db, snapshot);
      await store.commit((tx) => restoreSnapshot(tx, store.workbook, plan, null));
    });
    expect(await compactTable(busy, id, quiet, thorough)).toBe('moved');
    expect(await listBlobs(id)).toEqual(files);
    expect(await store.hashContent(id)).toBe(wanted);
    expect((await current(id)).table.tailCount).toBe(8);
    expect(await compactTable(store.services, id, quiet, thorough)).toBe('compacted');
    expect(await store.hashContent(id)).toBe(wanted);
  });

  it('a cancelled one drops what it has written', async () => {
    const id = await makeLayered('cancelled');
    const files = await listBlobs(id);
    const abort = new AbortController();
    const busy = afterPut(async (n) => {
      if (n === 2) abort.abort();
    });
    await expect(compactTable(busy, id, { ...quiet, signal: abort.signal }, { ...thorough, fileRows: 500 })).rejects.toThrow();
    expect(await listBlobs(id)).toEqual(files);
  });
});

describe('compactTable: a crash', () => {
  it('between a file and the transaction leaves the table as it was, and can be done again', async () => {
    const id = await makeLayered('crashed');
    const before = await store.hashVersions(id);
    const { manifestId } = (await current(id)).table;
    const dying = afterPut(async (n) => {
      if (n === 2) throw new Error('killed');
    });
    await expect(compactTable(dying, id, quiet, { ...thorough, fileRows: 500 })).rejects.toThrow('killed');
    await expect(
      store.upsert(
        'crashed',
        Array.from({ length: 1100 }, () => ({ n: 1 })),
        null,
        afterPut(async () => Promise.reject(new Error('killed'))),
      ),
    ).rejects.toThrow('killed');
    expect((await current(id)).table.manifestId).toBe(manifestId);
    expect(await store.hashVersions(id)).toEqual(before);
    expect(await compactTable(store.services, id, quiet, thorough)).toBe('compacted');
    expect(await store.hashVersions(id)).toEqual(before);
  });

  it('between the swap and its answer costs no file', async () => {
    const id = await makeLayered('unanswered');
    const before = await store.hashVersions(id);
    const { db } = store.services;
    const query = async (...args: Parameters<typeof db.pool.query>) => {
      const result = await db.pool.query(...args);
      if (String(args[0]).includes('svc_fold_layers')) throw new Error('connection lost');
      return result;
    };
    const pool = Object.create(db.pool, { query: { value: query } }) as typeof db.pool;
    await expect(compactTable({ ...store.services, db: { ...db, pool } }, id, quiet, thorough)).rejects.toThrow('connection lost');
    expect(await kinds(id)).toEqual(['segment', 'log']);
    expect(await store.hashVersions(id)).toEqual(before);
    expect(await compactTable(store.services, id, quiet)).toBe('nothing');
  });

  it('that gave a version number to other content makes the swap fail', async () => {
    const id = await makeLayered('reissued');
    const before = await store.hashVersions(id);
    const busy = afterPut(async () => {
      await store.api.sql.query(`UPDATE table_versions SET uid = 'ver_other' WHERE table_id = $1 AND edit_version = $2`, [
        id,
        await store.currentVersion(id),
      ]);
    });
    expect(await compactTable(busy, id, quiet, thorough)).toBe('moved');
    expect(await store.hashVersions(id)).toEqual(before);
  });
});
