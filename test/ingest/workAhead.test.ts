import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { handleFiles } from '../../activities/ingest/fileProgram/fileWork.ts';
import type { FileInput, WantedStructure } from '../../activities/ingest/fileProgram/requests.ts';
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

/** What a process answers that was told `next`; its file is gone before it is asked for the structure. */
async function structureAfter(next: WantedStructure, asked: WantedStructure) {
  const path = join(tmpdir(), `svc-test-ahead-${process.pid}.xlsx`);
  await writeFile(path, makeBook({ sheets: [xml] }));
  const input: FileInput = { path, format: 'xlsx', filename: '売上.xlsx' };
  const { blobs, engine } = store;
  const drafts = {
    draft: () => blobs.draft(),
    put: (_: string, path: string, ext: string) => blobs.put('a/w/t', path, ext),
    remove: (key: string) => blobs.remove(key),
  };
  const handlers = handleFiles({ blobs: drafts, engine, step() {} });
  await handlers.writeRaw({ input, rowBases: [], next: { wanted: next, mayBeFirst: true } });
  await nextTurn();
  await rm(path);
  return handlers.structure({ input, wanted: asked });
}

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
