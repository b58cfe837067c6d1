import { afterAll, describe, expect, it } from 'vitest';
import { prepareAddColumn } from '../../activities/columns/changeColumns.ts';
import { prepareRetypeColumn } from '../../activities/columns/retypeColumn.ts';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { commitSnapshot } from '../../activities/snapshots/commitSnapshot.ts';
import { planRestore } from '../../activities/snapshots/planRestore.ts';
import { restoreSnapshot } from '../../activities/snapshots/restoreSnapshot.ts';
import { eager, quiet, thorough, withLayers } from './layered.ts';
import { openTestStore } from './store.ts';

const store = await openTestStore();
afterAll(() => store.stop());
const { current, kinds, listBlobs, afterPut, change, request, makeLayered } = withLayers(store);

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
