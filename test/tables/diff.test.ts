import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { prepareAddColumn, prepareDropColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange, type PreparedColumnChange } from '../../activities/columns/openColumn.ts';
import { diffTable } from '../../activities/rows/diffTable.ts';
import { requireTable, requireTableAt } from '../../activities/tables/openTable.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { openTestStore, type TestStore } from './store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.stop());

const request = (name: string) => ({ workbookId: store.workbook.id, name, expectedVersion: null });
const change = async (prepared: Promise<PreparedColumnChange>) => {
  const ready = await prepared;
  return store.commit((tx) => applyColumnChange(tx, ready));
};
const add = (name: string, column: string, value?: string) =>
  change(prepareAddColumn(store.services, store.principal, request(name), { column, default: value }));

/** The difference to the first version, both ways, and which files were read for it. */
async function diff(name: string) {
  const { services, workbook } = store;
  const now = await requireTable(services, workbook.id, name);
  const first = await requireTableAt(services, now, 1);
  const opened = vi.spyOn(services.blobs, 'open');
  const there = await diffTable(services, seeEverything(first), seeEverything(now), 100);
  const back = await diffTable(services, seeEverything(now), seeEverything(first), 100);
  const files = new Set(opened.mock.calls.flatMap(([keys]) => keys));
  opened.mockRestore();
  return { there: there.counts, back: back.counts, files: files.size };
}

describe('diffTable: over a change of columns', () => {
  it('looks only at the rows of the log after a column came without a default', async () => {
    await store.makeLargeTable('came', 1000);
    await add('came', 'c');
    await store.upsert('came', [{ n: 1, c: 'x' }, { n: 2 }]);
    expect(await diff('came')).toEqual({
      there: { inserted: 2, updated: 0, deleted: 0 },
      back: { inserted: 0, updated: 0, deleted: 2 },
      files: 0,
    });
    await store.upsert('came', [{ __svc_row_id: 5, c: 'y' }]);
    expect(await diff('came')).toEqual({
      there: { inserted: 2, updated: 1, deleted: 0 },
      back: { inserted: 0, updated: 1, deleted: 2 },
      files: 1,
    });
  });

  it('looks at all rows after one came with a default, went, or took the place of another', async () => {
    const all = { there: { inserted: 0, updated: 1000, deleted: 0 }, back: { inserted: 0, updated: 1000, deleted: 0 }, files: 1 };
    await store.makeLargeTable('default', 1000);
    await add('default', 'c', 'd');
    expect(await diff('default')).toEqual(all);
    await store.makeLargeTable('went', 1000);
    await change(prepareDropColumn(store.services, store.principal, request('went'), 't'));
    expect(await diff('went')).toEqual(all);
    await add('went', 't');
    expect(await diff('went')).toEqual(all);
  });
});
