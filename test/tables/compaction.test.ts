import { afterAll, describe, expect, it } from 'vitest';
import { prepareAddColumn } from '../../activities/columns/changeColumns.ts';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { commitSnapshot } from '../../activities/snapshots/commitSnapshot.ts';
import { planRestore } from '../../activities/snapshots/planRestore.ts';
import { restoreSnapshot } from '../../activities/snapshots/restoreSnapshot.ts';
import { chooseFileRows, compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import { listTablesToCompact } from '../../store/pg/compaction.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { eager, quiet, thorough, withLayers } from './layered.ts';
import { openTestStore } from './store.ts';

const store = await openTestStore();
afterAll(() => store.stop());
const { current, kinds, listBlobs, change, request, tellHistory, makeLayered } = withLayers(store);

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
