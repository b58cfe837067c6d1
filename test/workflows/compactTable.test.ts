import { describe, expect, it } from 'vitest';
import { startCompaction } from '../../activities/compaction/startCompaction.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import { waitForSchedule } from '../setup/schedules.ts';
import { editRows } from '../setup/tables.ts';
import { keepHistory, replayHistory } from './replay.ts';
import { useStoreWithWorker } from './storeWithWorker.ts';

const store = await useStoreWithWorker();

const layersOf = async (id: string) => (await listTablesById(store.services.db.pool, [id]))[0]?.layers.map((layer) => layer.kind);

async function eventually<T>(look: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  for (const until = Date.now() + 120_000; ; ) {
    const value = await look();
    if (wanted(value) || Date.now() > until) return value;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

describe('compactTable', () => {
  it('is started by an edit that leaves a long tail, and folds it', async () => {
    const id = await store.makeTable('long', [{ name: 'a', type: 'BIGINT' }]);
    const { client } = await store.services.temporal();
    const upsert = (rows: { a: number }[]) => editRows(store.owner.client, store.workbook.id, 'long', rows);
    for (let i = 0; i < 2; i += 1) await upsert(Array.from({ length: 450 }, (_, n) => ({ a: n })));
    expect(await layersOf(id)).toEqual(['log']);
    await upsert(Array.from({ length: 200 }, (_, n) => ({ a: n })));
    expect(
      await eventually(
        () => layersOf(id),
        (kinds) => kinds?.includes('segment') ?? false,
      ),
    ).toEqual(['segment', 'log']);
    const handle = client.workflow.getHandle(`compact-${id}`);
    expect(await handle.result()).toEqual(['compacted', 'nothing']);
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({
      SvcKind: ['compaction'],
      SvcWorkbook: [store.workbook.id],
      SvcAccount: [store.workbook.accountId],
    });
    expect((await store.readContent(id)).rows.length).toBe(1100);
    await keepHistory('compactTable', handle);
  });

  it('is started by an edit that leaves many files', async () => {
    const id = await store.makeTable('filed', [
      { name: 'text', type: 'VARCHAR' },
      { name: 'n', type: 'BIGINT' },
    ]);
    const upsert = (row: Record<string, unknown>) => editRows(store.owner.client, store.workbook.id, 'filed', [row]);
    await upsert({ text: 'x'.repeat(50_000) });
    for (let n = 1; n <= 20; n += 1) await upsert({ __svc_row_id: 1, n });
    expect(
      await eventually(
        () => layersOf(id),
        (kinds) => !kinds?.includes('delta'),
      ),
    ).toEqual(['segment', 'log']);
    expect((await store.readContent(id)).rows.length).toBe(1);
  });

  it('comes through again and again while edits that add files never pause', async () => {
    const id = await store.makeTable('steady', [
      { name: 'text', type: 'VARCHAR' },
      { name: 'n', type: 'BIGINT' },
    ]);
    const edits = 400;
    const model = new Map<number, [string, number]>();
    let [most, before, folded] = [0, 0, 0];
    for (let n = 1; n <= edits && folded < 3; n += 1) {
      // Ten rows, edited in turn.
      const rowId = n > 10 ? ((n * 7) % 10) + 1 : undefined;
      const text = String(n).repeat(20_000).slice(0, 20_000);
      const row = { ...(rowId ? { __svc_row_id: rowId } : {}), text, n };
      const { row_ids: rowIds } = await editRows(store.owner.client, store.workbook.id, 'steady', [row]);
      model.set(rowIds[0] as number, [text, n]);
      const layers = (await layersOf(id))?.length ?? 0;
      if (layers < before) folded += 1;
      before = layers;
      most = Math.max(most, layers);
    }
    expect([folded, most]).toEqual([expect.toSatisfy((times: number) => times >= 3), expect.toSatisfy((n: number) => n < edits / 2)]);
    const wanted = [...model].sort(([a], [b]) => a - b).map(([rowId, [text, n]]) => [text, String(n), String(rowId)]);
    expect((await store.readContent(id)).rows).toEqual(wanted);
  }, 240_000);

  it('is started by the sweep when no process was there to ask for it', async () => {
    // Straight through the activities: no API that would start the workflow.
    const id = await store.makeTable('forgotten', [{ name: 'a', type: 'BIGINT' }]);
    for (let i = 0; i < 3; i += 1)
      await store.upsert(
        'forgotten',
        Array.from({ length: 400 }, (_, n) => ({ a: n })),
      );
    expect(await layersOf(id)).toEqual(['log']);
    const { client } = await store.services.temporal();
    const handle = await client.workflow.start('sweepTables', {
      workflowId: `sweep-tables-${id}`,
      taskQueue: store.api.config.temporal.taskQueue,
    });
    expect(await handle.result()).toBeGreaterThanOrEqual(1);
    expect(
      await eventually(
        () => layersOf(id),
        (kinds) => kinds?.includes('segment') ?? false,
      ),
    ).toEqual(['segment', 'log']);
    await keepHistory('sweepTables', handle);
  });

  it('terminated in the middle holds up no reader and costs no row, and the next one does the rest', async () => {
    const id = await store.makeTable('terminated', [{ name: 'a', type: 'BIGINT' }]);
    for (let i = 0; i < 3; i += 1)
      await store.upsert(
        'terminated',
        Array.from({ length: 400 }, (_, n) => ({ a: n })),
      );
    const whole = await store.readContent(id);
    const table = { id, workbookId: store.workbook.id, accountId: store.workbook.accountId, name: '表' };
    const files = async () => {
      const keys: string[] = [];
      for await (const { key } of store.services.blobs.list(`${table.accountId}/${table.workbookId}/${id}`)) keys.push(key);
      return keys;
    };
    const { client } = await store.services.temporal();
    // With the table's own row locked, the compaction waits between its files and the swap.
    const holder = await store.api.sql.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM tables WHERE id = $1 FOR UPDATE', [id]);
      await startCompaction(store.services, table);
      expect((await eventually(files, (keys) => keys.length > 0)).length).toBe(1);
      await client.workflow.getHandle(`compact-${id}`).terminate('by an operator');
      expect(await store.readContent(id)).toEqual(whole);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    await startCompaction(store.services, table);
    expect((await client.workflow.getHandle(`compact-${id}`).result()).at(-1)).toBe('nothing');
    expect(await layersOf(id)).toEqual(['segment', 'log']);
    expect(await store.readContent(id)).toEqual(whole);
    for (const version of [2, 3]) expect((await store.readContent(id, version)).rows.length).toBe(400 * (version - 1));
  });

  it('runs by the clock', async () => {
    for (const name of ['sweep-tables', 'collect-garbage'] as const)
      expect((await waitForSchedule(store.services, name)).action.type).toBe('startWorkflow');
  });

  it.each(['compactTable', 'sweepTables'])('%s replays as it ran', async (name) => {
    await replayHistory(name);
    // A workflow that did something else would be noticed.
    await expect(replayHistory(name, (text) => text.replaceAll('"activityId": "1"', '"activityId": "9"'))).rejects.toThrow();
  });
});
