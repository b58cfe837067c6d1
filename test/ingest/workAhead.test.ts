import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handleFiles } from '../../activities/ingest/fileProgram/fileWork.ts';
import type { FileInput, WantedStructure } from '../../activities/ingest/fileProgram/requests.ts';
import type { TableTarget } from '../../activities/ingest/writeTables.ts';
import { readAll } from '../../store/duckdb/engine.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import { escapeXml, makeBook } from '../xlsx/makeWorkbook.ts';
import { openRawStore, type RawStore } from './rawStore.ts';

let store: RawStore;
beforeAll(async () => {
  store = await openRawStore();
});
afterAll(() => store.close());

const rows = [['店', '区分', '金額'], ...Array.from({ length: 30 }, (_, i) => [`店${i}`, ['A', 'B'][i % 2] ?? '', String(i * 10)])];
const cell = (text: string, at: string) =>
  /^\d+$/.test(text) ? `<c r="${at}"><v>${text}</v></c>` : `<c r="${at}" t="inlineStr"><is><t>${escapeXml(text)}</t></is></c>`;
const xml = rows.map((row, i) => `<row r="${i + 1}">${row.map((text, k) => cell(text, `${'ABC'[k]}${i + 1}`)).join('')}</row>`).join('');

const wanted: WantedStructure = { sourceName: '売上.xlsx', naming: null, choice: 'auto', known: null, layouts: [] };

/** A process that was told `next`; its file is gone before it is asked for the structure. */
async function openAfter(next: WantedStructure, rowBases: [string, number][] = []) {
  const path = join(tmpdir(), `svc-test-ahead-${process.pid}.xlsx`);
  await writeFile(path, makeBook({ sheets: [xml] }));
  const input: FileInput = { path, format: 'xlsx', filename: '売上.xlsx' };
  const { blobs, engine } = store;
  const puts: string[] = [];
  const drafts = {
    draft: () => blobs.draft(),
    async put(_: string, path: string, ext: string) {
      const put = await blobs.put('a/w/t', path, ext);
      puts.push(put.key);
      return put;
    },
    remove: (key: string) => blobs.remove(key),
  };
  const handlers = handleFiles({ blobs: drafts, engine, step() {} });
  await handlers.writeRaw({ input, rowBases, next: { wanted: next, mayBeFirst: true } });
  await nextTurn();
  await rm(path);
  return { handlers, structure: (asked: WantedStructure) => handlers.structure({ input, wanted: asked }), puts };
}

const structureAfter = async (next: WantedStructure, asked: WantedStructure) => (await openAfter(next)).structure(asked);

it('a structure that was worked out ahead is that which is asked for', async () => {
  const ahead = await structureAfter(wanted, wanted);
  expect(ahead.tables.map(({ name, rowCount }) => [name, rowCount])).toEqual([['売上', 30]]);
  expect(ahead.understood).toEqual(['Sheet1']);
  expect(await structureAfter({ ...wanted, sourceName: 'other.xlsx' }, wanted)).toEqual(ahead);
});

it('another is made if another is asked for', async () => {
  const other = await structureAfter(wanted, { ...wanted, sourceName: '支店.xlsx' });
  expect(other.tables.map(({ name }) => name)).toEqual(['支店']);
});

describe('tables that were written ahead', () => {
  const place = (columnIds: number[], rowBase = 0) => ({ tableId: 'tbl_1', prefix: '', rowBase, columnIds });
  const write = async (places: TableTarget[], rowBases: [string, number][] = []) => {
    const { handlers, structure, puts } = await openAfter(wanted, rowBases);
    await structure(wanted);
    const before = puts.length;
    const [first] = await handlers.writeTables({ places });
    const keys = first?.layers.flatMap((layer) => ('key' in layer ? [layer.key] : [])) ?? [];
    const { pathOf, release } = await store.blobs.open(keys);
    const paths = keys.map((key) => quoteText(pathOf(key))).join(', ');
    const rows = await store.engine.use((connection) => readAll(connection, `SELECT * FROM read_parquet([${paths}])`));
    release();
    const again = await handlers.writeTables({ places });
    await handlers.forget({});
    return { first, again, rows, isAhead: keys.some((key) => puts.slice(0, before).includes(key)) };
  };

  it('are those which are asked for, and are written once more if they are asked for once more', async () => {
    const { first, again, rows } = await write([place([1, 2, 3])]);
    expect(first).toMatchObject({ tableId: 'tbl_1', rowCount: 30, maxRowId: 30, columns: [{ id: 1 }, { id: 2 }, { id: 3 }] });
    expect(rows[3]).toEqual([4n, '店3', 'B', 30n]);
    const { layers, provenanceKey, ...rest } = again[0] as NonNullable<typeof first>;
    expect(first).toMatchObject(rest);
    expect(first?.layers).not.toEqual(layers);
    expect(first?.provenanceKey).not.toBe(provenanceKey);
  });

  it('are others if rows or columns have other numbers', async () => {
    const { first, rows, isAhead } = await write([place([3, 1, 2], 100)]);
    expect(isAhead).toBe(false);
    expect(first).toMatchObject({ maxRowId: 130, columns: [{ id: 3 }, { id: 1 }, { id: 2 }] });
    expect(rows[3]?.[0]).toBe(104n);
  });

  it('are none for a revision, whose rows go on after others', async () => {
    expect((await write([place([1, 2, 3], 40)], [['Sheet1', 40]])).isAhead).toBe(false);
  });
});
