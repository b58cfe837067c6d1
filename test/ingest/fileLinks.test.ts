import { describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { ok } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { setPolicy, tagColumn } from '../setup/governance.ts';
import { editRows } from '../setup/tables.ts';
import { answerOf, problemOf } from './answers.ts';
import { makeXlsx, scattered, useWorld } from './world.ts';

type Schemas = components['schemas'];
type Result = Schemas['FileLinkResult'];

const world = await useWorld();
const linksOf = (workbookId: string) => `/api/v1/workbooks/${workbookId}/file-links`;

interface Fields {
  on_existing?: string;
  as_name?: string;
  origin?: string;
  modified_by?: string;
  modified_time?: string;
}

const sendTrack = (workbookId: string, name: string, bytes: Uint8Array | string, fields: Fields = {}) =>
  world.send(name, bytes, { path: `${linksOf(workbookId)}/local`, fields: { ...fields } });
const track = async (workbookId: string, name: string, bytes: Uint8Array | string, fields?: Fields) =>
  answerOf<Result>(await sendTrack(workbookId, name, bytes, fields));
const sendPush = (workbookId: string, id: string, bytes: Uint8Array | string, fields: Fields = {}, key?: string) =>
  world.send(typeof bytes === 'string' ? '在庫.csv' : '在庫.xlsx', bytes, {
    path: `${linksOf(workbookId)}/${id}/versions`,
    fields: { ...fields },
    ...(key ? { key } : {}),
  });
const push = async (workbookId: string, id: string, bytes: Uint8Array | string, fields?: Fields) =>
  answerOf<Result>(await sendPush(workbookId, id, bytes, fields));
const get = (path: string) => world.api.fetch(path, { token: world.owner.session });
const revert = (workbookId: string, id: string, n: number) =>
  world.api.fetch(`${linksOf(workbookId)}/${id}/versions/${n}/revert`, { method: 'POST', token: world.owner.session });
const list = async (workbookId: string) => (await answerOf<Schemas['FileLinkList']>(await get(linksOf(workbookId)))).file_links;
const readDiff = async (workbookId: string, id: string, n: number, query = '') =>
  answerOf<Schemas['FileDiff']>(await get(`${linksOf(workbookId)}/${id}/versions/${n}/diff${query}`));
const rowOf = async (workbookId: string, code: string) => (await world.readRows('在庫', workbookId)).find(({ 品番 }) => 品番 === code);

const items = (...numbers: number[]) => [['品番', '品名', '数量'], ...numbers.map((n, i) => [`P000${i + 1}`, `部品 ${i + 1}`, n])];
const file = (...numbers: number[]) => makeXlsx({ S: items(...numbers) });

describe('a tracked local file', () => {
  it('feeds a source of the same name: version 1, with a snapshot', async () => {
    const workbookId = await world.newWorkbook();
    const made = await track(workbookId, '在庫.xlsx', await file(1, 2), { origin: 'C:\\倉庫\\在庫.xlsx' });
    expect(made).toMatchObject({
      changed: true,
      n: 1,
      artifacts: ['在庫'],
      conflicts: [],
      file_link: { name: '在庫.xlsx', kind: 'local', provider: null, every: null, origin: 'C:\\倉庫\\在庫.xlsx', source: '在庫.xlsx' },
    });
    expect(made.file_link.versions).toMatchObject([{ n: 1, kind: 'link' }]);
    expect((await world.getSource('在庫.xlsx', workbookId)).provenance).toMatchObject({ kind: 'file_link' });
    const { snapshots } = await answerOf<Schemas['SnapshotList']>(await get(`/api/v1/workbooks/${workbookId}/snapshots`));
    expect(snapshots.map(({ id }) => id)).toContain(made.file_link.versions[0]?.snapshot_id);
    expect(await list(workbookId)).toEqual([made.file_link]);
    expect((await world.readEvents(workbookId)).map(({ type }) => type)).toContain('snapshot.committed');
  });

  it('gets versions by pushes; identical bytes cut none', async () => {
    const workbookId = await world.newWorkbook();
    const [first, second] = [await file(1, 2), await file(1, 5)];
    const { id } = (await track(workbookId, '在庫.xlsx', first)).file_link;
    const again = await push(workbookId, id, first);
    expect(again).toMatchObject({ changed: false, n: 1, artifacts: [], conflicts: [] });
    const pushed = await push(workbookId, id, second, { modified_by: '鈴木', modified_time: '2025-06-14T05:00:00Z' });
    expect(pushed).toMatchObject({ changed: true, n: 2, artifacts: ['在庫'], conflicts: [] });
    expect(pushed.file_link.versions[1]).toMatchObject({ n: 2, kind: 'sync', modified_by: '鈴木', modified: '2025-06-14T05:00:00.000Z' });
    expect(await rowOf(workbookId, 'P0002')).toMatchObject({ 数量: 5 });
    expect((await push(workbookId, id, second)).changed).toBe(false);
    expect((await list(workbookId))[0]?.versions.map(({ n }) => n)).toEqual([1, 2]);
    expect((await world.getSource('在庫.xlsx', workbookId)).artifacts).toEqual(['在庫']);
  });

  it('is pushed once by a request that is repeated', async () => {
    const workbookId = await world.newWorkbook();
    const { id } = (await track(workbookId, '在庫.xlsx', await file(1))).file_link;
    const bytes = await file(2);
    const [one, two] = [await sendPush(workbookId, id, bytes, {}, 'same'), await sendPush(workbookId, id, bytes, {}, 'same')];
    expect([await one.text(), two.headers.get('idempotency-replayed')]).toEqual([await two.text(), 'true']);
    expect((await list(workbookId))[0]?.versions).toHaveLength(2);
  });

  it('takes pushes at the same time one after the other, or says that it is busy', async () => {
    const workbookId = await world.newWorkbook();
    const { id } = (await track(workbookId, '在庫.xlsx', await file(1))).file_link;
    const sent = await Promise.all([2, 3, 4, 5].map(async (n) => sendPush(workbookId, id, await file(n))));
    const done = sent.filter(({ status }) => status === 200).length;
    expect(sent.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(done).toBeGreaterThan(0);
    expect((await list(workbookId))[0]?.versions.map(({ n }) => n)).toEqual(Array.from({ length: 1 + done }, (_, i) => i + 1));
  });

  it('is merged with edits; what both changed is a conflict', async () => {
    const workbookId = await world.newWorkbook();
    const { id } = (await track(workbookId, '在庫.xlsx', await file(1, 2, 3))).file_link;
    const [a, b] = [await rowOf(workbookId, 'P0001'), await rowOf(workbookId, 'P0002')];
    const edits = [
      { __svc_row_id: a?.__svc_row_id, 品名: '手直し' },
      { __svc_row_id: b?.__svc_row_id, 数量: 20 },
    ];
    await editRows(world.owner.client, workbookId, '在庫', edits, null);
    const pushed = await push(workbookId, id, await file(10, 200, 3));
    expect(pushed.conflicts).toHaveLength(1);
    expect(await rowOf(workbookId, 'P0001')).toMatchObject({ 品名: '手直し', 数量: 10 });
    expect(await rowOf(workbookId, 'P0002')).toMatchObject({ 数量: 200 });
    const { conflicts } = ok(
      await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/conflicts', { params: { path: { workbook_id: workbookId } } }),
    );
    expect(conflicts).toMatchObject([{ id: pushed.conflicts[0], column: '数量', base: 2, prior: 20, current: 200, status: 'open' }]);
  });

  it('leaves tables whose part of the file did not change as they are, edits included, and says where their cells are now', async () => {
    const workbookId = await world.newWorkbook();
    const rates = [
      ['通貨', '率'],
      ['USD', 150],
      ['EUR', 165],
    ];
    const book = (quantity: number, blanks: number) =>
      makeXlsx({ 在庫表: items(quantity, 2), 為替: [...Array.from({ length: blanks }, () => []), ...rates] });
    const { file_link: link, artifacts } = await track(workbookId, '在庫.xlsx', await book(1, 0));
    const [stock, rate] = ['在庫表', '為替'].map((part) => artifacts.find((name) => name.includes(part)) ?? '') as [string, string];
    const table = async (name: string) =>
      answerOf<Schemas['Table']>(await get(`/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent(name)}`));
    await editRows(world.owner.client, workbookId, rate, [{ __svc_row_id: 1, 率: 151 }]);
    const [stockBefore, rateBefore] = [await table(stock), await table(rate)];
    const eventsBefore = (await world.readEvents(workbookId)).length;

    const pushed = await push(workbookId, link.id, await book(7, 2));
    expect(pushed).toMatchObject({ changed: true, n: 2, artifacts: [stock], conflicts: [] });
    expect((await table(stock)).edit_version).toBeGreaterThan(stockBefore.edit_version);
    expect((await table(rate)).edit_version).toBe(rateBefore.edit_version);
    expect((await world.readRows(rate, workbookId)).map(({ 率 }) => 率)).toEqual([151, 165]);
    const updated = (await world.readEvents(workbookId)).slice(eventsBefore).filter(({ type }) => type === 'artifact.updated');
    expect(updated.map(({ data }) => (data as { name: string }).name)).not.toContain(rate);
    const lineage = await answerOf<Schemas['RowLineage']>(
      await get(`/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent(rate)}/rows/2/lineage`),
    );
    expect(JSON.stringify(lineage)).toContain('A5');

    // The next change of that sheet is merged with the edit as ever.
    rates[1] = ['USD', 149];
    const third = await push(workbookId, link.id, await book(7, 2));
    expect([third.artifacts, third.conflicts.length]).toEqual([[rate], 1]);
  });

  it('goes back to an earlier version as a new one', async () => {
    const workbookId = await world.newWorkbook();
    const first = await file(1, 2);
    const { id } = (await track(workbookId, '在庫.xlsx', first)).file_link;
    await push(workbookId, id, await file(7, 8));
    const back = await answerOf<Result>(await revert(workbookId, id, 1));
    expect(back).toMatchObject({ changed: true, n: 3 });
    expect(back.file_link.versions.map(({ kind }) => kind)).toEqual(['link', 'sync', 'revert']);
    expect(await rowOf(workbookId, 'P0001')).toMatchObject({ 数量: 1 });
    expect(await answerOf<Result>(await revert(workbookId, id, 3))).toMatchObject({ changed: false, n: 3 });
    const download = await get(`${linksOf(workbookId)}/${id}/versions/3/download`);
    expect(Buffer.from(await download.arrayBuffer()).equals(Buffer.from(first))).toBe(true);
    expect(download.headers.get('content-disposition')).toBe(`attachment; filename*=UTF-8''${encodeURIComponent('在庫.xlsx')}`);
  });

  it('shows its cells page by page', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeXlsx({ S: items(1, 2), 別紙: [['見出し'], [null, true]] });
    const { id } = (await track(workbookId, '在庫.xlsx', bytes)).file_link;
    const base = `${linksOf(workbookId)}/${id}/versions/1/cells`;
    const all = await answerOf<Schemas['CellList']>(await get(base));
    expect(all).toMatchObject({ sheet: 'S', sheets: ['S', '別紙'], next_cursor: null });
    expect(all.cells).toHaveLength(9);
    expect(all.cells.slice(3, 6)).toEqual([
      { cell: 'A2', value: 'P0001' },
      { cell: 'B2', value: '部品 1' },
      { cell: 'C2', value: 1 },
    ]);
    const paged: Schemas['CellList']['cells'] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Schemas['CellList'] = await answerOf(await get(`${base}?limit=4${cursor ? `&cursor=${cursor}` : ''}`));
      expect(page.cells.length).toBeLessThanOrEqual(4);
      paged.push(...page.cells);
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(all.cells);
    const other = await answerOf<Schemas['CellList']>(await get(`${base}?sheet=${encodeURIComponent('別紙')}`));
    expect(other.cells).toEqual([
      { cell: 'A1', value: '見出し' },
      { cell: 'B2', value: true },
    ]);
  });

  it('compares any two versions, as far as the limit', async () => {
    const workbookId = await world.newWorkbook();
    const { id } = (await track(workbookId, '在庫.xlsx', await makeXlsx({ S: items(1, 2), 旧: [['消える']] }))).file_link;
    await push(workbookId, id, await makeXlsx({ S: items(1, 5), 新: [['現れる']] }));
    await push(workbookId, id, await makeXlsx({ S: items(9, 5, 7), 新: [['現れる']] }));
    expect(await readDiff(workbookId, id, 2)).toEqual({
      n: 2,
      against: 1,
      sheets: [
        { sheet: 'S', status: 'changed', changes: [{ cell: 'C3', old: 2, new: 5 }], truncated: false },
        { sheet: '新', status: 'added', changes: [{ cell: 'A1', old: null, new: '現れる' }], truncated: false },
        { sheet: '旧', status: 'removed', changes: [{ cell: 'A1', old: '消える', new: null }], truncated: false },
      ],
    });
    expect((await readDiff(workbookId, id, 3)).sheets).toMatchObject([
      { sheet: 'S', changes: [{ cell: 'C2', old: 1, new: 9 }, { cell: 'A4', old: null, new: 'P0003' }, { cell: 'B4' }, { cell: 'C4' }] },
    ]);
    const capped = await readDiff(workbookId, id, 1, '?against=3&limit=1');
    expect(capped).toMatchObject({ n: 1, against: 3 });
    expect(capped.sheets.map(({ changes, truncated }) => [changes.length, truncated])).toEqual([
      [1, true],
      [1, false],
      [1, false],
    ]);
    const first = await readDiff(workbookId, id, 1);
    expect([first.against, first.sheets.map(({ status }) => status)]).toEqual([null, ['added', 'added']]);
    expect(await readDiff(workbookId, id, 2, '?against=2')).toEqual({ n: 2, against: 2, sheets: [] });
  });

  it('may be a text file', async () => {
    const workbookId = await world.newWorkbook();
    const { id } = (await track(workbookId, '価格.csv', '品,価格\nA,1\nB,2\n')).file_link;
    await push(workbookId, id, '品,価格\nA,1\nB,3\n');
    expect((await readDiff(workbookId, id, 2)).sheets).toEqual([
      { sheet: '価格', status: 'changed', changes: [{ cell: 'B3', old: '2', new: '3' }], truncated: false },
    ]);
    expect((await get(`${linksOf(workbookId)}/${id}/versions/1/download`)).headers.get('content-type')).toMatch(/^text\/csv/);
  });
});

describe('a source of the same name', () => {
  const begin = async (bytes: Uint8Array) => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', bytes, { workbookId });
    return workbookId;
  };

  it('becomes version 1 where it looks like the same file', async () => {
    const bytes = await file(1, 2);
    const workbookId = await begin(bytes);
    const made = await track(workbookId, '在庫.xlsx', await file(1, 9));
    expect(made).toMatchObject({ changed: true, n: 2 });
    expect(made.file_link.versions).toMatchObject([
      { n: 1, kind: 'link' },
      { n: 2, kind: 'sync' },
    ]);
    const [one, two] = made.file_link.versions;
    expect(one?.snapshot_id).not.toBe(two?.snapshot_id);
    const download = await get(`${linksOf(workbookId)}/${made.file_link.id}/versions/1/download`);
    expect(Buffer.from(await download.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
    expect(await rowOf(workbookId, 'P0002')).toMatchObject({ 数量: 9 });
    expect((await world.query('SELECT count(*) AS n FROM 在庫', workbookId))[0]).toEqual({ n: 2 });
  });

  it('is version 1 alone where the bytes are the same', async () => {
    const bytes = await file(1, 2);
    const workbookId = await begin(bytes);
    expect(await track(workbookId, '在庫.xlsx', bytes)).toMatchObject({ n: 1, artifacts: [], file_link: { versions: [{ n: 1 }] } });
  });

  it.each([
    ['auto', 409, []],
    ['refuse', 409, []],
    ['seed', 201, ['link', 'sync']],
    ['replace', 201, ['link']],
  ])('and other sheets, with on_existing %s: %i', async (mode, status, kinds) => {
    const workbookId = await begin(await file(1, 2));
    const response = await sendTrack(workbookId, '在庫.xlsx', await makeXlsx({ 別: items(4) }), { on_existing: mode });
    expect(response.status).toBe(status);
    const versions = (await list(workbookId)).flatMap((link) => link.versions.map(({ kind }) => kind));
    expect(versions).toEqual(kinds);
    const { n } = (await world.query('SELECT count(*) AS n FROM 在庫', workbookId))[0] as { n: number };
    expect(n).toBe(status === 201 ? 1 : 2);
  });

  it('stays beside a file that is tracked under another name', async () => {
    const bytes = await file(1, 2);
    const workbookId = await begin(bytes);
    const made = await track(workbookId, '在庫.xlsx', bytes, { as_name: '在庫 2.xlsx' });
    expect(made.file_link).toMatchObject({ name: '在庫 2.xlsx', source: '在庫 2.xlsx' });
    expect(await world.listNames('active', workbookId)).toHaveLength(2);
    expect(await problemOf(await sendTrack(workbookId, '在庫.xlsx', await file(3), { as_name: '在庫 2.xlsx' }))).toEqual([
      409,
      'name-taken',
    ]);
  });

  it('that is only stored gets the bytes at once', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await file(1, 2), { workbookId, fields: { mode: 'staged' } });
    const made = await track(workbookId, '在庫.xlsx', await file(3, 4));
    expect(made).toMatchObject({ n: 2, artifacts: [], file_link: { versions: [{ kind: 'link' }, { kind: 'sync' }] } });
    expect((await push(workbookId, made.file_link.id, await file(5))).n).toBe(3);
    expect(await world.getSource('在庫.xlsx', workbookId)).toMatchObject({ status: 'registered', artifacts: [] });
  });
});

describe('bad input', () => {
  it('changes nothing', async () => {
    const workbookId = await world.newWorkbook();
    const { id } = (await track(workbookId, '在庫.xlsx', await file(1, 2))).file_link;
    const before = [await list(workbookId), await world.getSource('在庫.xlsx', workbookId), await world.readRows('在庫', workbookId)];
    const base = `${linksOf(workbookId)}/${id}/versions`;
    const unknown = `lnk_${'0'.repeat(26)}`;
    const cases: [string, () => Promise<Response>, [number, string]][] = [
      ['no spreadsheet', () => sendTrack(workbookId, '写真.png', 'not a table'), [415, 'unsupported-media']],
      ['bytes that are no workbook', () => sendTrack(workbookId, '別.xlsx', 'not a workbook'), [415, 'unsupported-media']],
      ['records', () => sendTrack(workbookId, '行.ndjson', '{"a": 1}\n'), [415, 'unsupported-media']],
      ['an unknown choice', () => sendTrack(workbookId, '別.xlsx', 'x', { on_existing: 'merge' }), [422, 'validation-failed']],
      ['a name of dots', async () => sendTrack(workbookId, '別.xlsx', await file(1), { as_name: '..' }), [422, 'validation-failed']],
      ['a push that is no workbook', () => sendPush(workbookId, id, Buffer.from('not a workbook')), [415, 'unsupported-media']],
      ['a push without content', async () => sendPush(workbookId, id, await makeXlsx({ S: [] })), [422, 'validation-failed']],
      ['a push without tables', async () => sendPush(workbookId, id, await makeXlsx({ S: scattered() })), [422, 'validation-failed']],
      [
        'a time that is none',
        async () => sendPush(workbookId, id, await file(3), { modified_time: 'yesterday' }),
        [422, 'validation-failed'],
      ],
      ['a push to nothing', async () => sendPush(workbookId, unknown, await file(3)), [404, 'not-found']],
      ['cells of no version', () => get(`${base}/2/cells`), [404, 'not-found']],
      ['cells of no sheet', () => get(`${base}/1/cells?sheet=T`), [404, 'not-found']],
      ['a foreign cursor', () => get(`${base}/1/cells?cursor=abc`), [422, 'validation-failed']],
      ['a difference from no version', () => get(`${base}/1/diff?against=5`), [404, 'not-found']],
      ['a huge number', () => get(`${base}/99999999999/download`), [404, 'not-found']],
      ['version 0', () => get(`${base}/0/download`), [422, 'validation-failed']],
      ['back to no version', () => revert(workbookId, id, 2), [404, 'not-found']],
    ];
    for (const [what, send, expected] of cases) expect([what, ...(await problemOf(await send()))]).toEqual([what, ...expected]);
    const other = await world.newWorkbook();
    expect(await problemOf(await get(`${linksOf(other)}/${id}/versions/1/cells`))).toEqual([404, 'not-found']);
    const after = [await list(workbookId), await world.getSource('在庫.xlsx', workbookId), await world.readRows('在庫', workbookId)];
    expect(after).toEqual(before);
    expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
  });
});

describe('on a governed workbook', () => {
  it('bytes are shown to nobody; pushes and reverts work, and tags stay with their columns', async () => {
    const workbookId = await world.newWorkbook();
    const { id } = (await track(workbookId, '在庫.xlsx', await file(1, 2))).file_link;
    await tagColumn(world.owner.client, workbookId, '在庫', '数量', 'secret');
    await setPolicy(world.owner.client, workbookId, 'secret', 'mask');
    for (const what of ['cells', 'diff', 'download'])
      expect(await problemOf(await get(`${linksOf(workbookId)}/${id}/versions/1/${what}`))).toEqual([403, 'governed-workbook']);
    const pushed = await push(workbookId, id, await file(30, 40));
    expect(pushed).toMatchObject({ changed: true, n: 2 });
    expect(await rowOf(workbookId, 'P0001')).toMatchObject({ 品名: '部品 1', 数量: null });
    expect(await answerOf<Result>(await revert(workbookId, id, 1))).toMatchObject({ n: 3 });
    expect(await rowOf(workbookId, 'P0001')).toMatchObject({ 数量: null });
    await push(workbookId, id, await makeXlsx({ S: items(1, 2).map((row, i) => [...row, i === 0 ? '備考' : '見えない']) }));
    const reader = await mintToken(world.owner.client, { scopes: ['workbooks:read'] });
    const rows = await world.api.fetch(`/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent('在庫')}/rows`, { token: reader.text });
    const text = await rows.text();
    expect([text.includes('部品 1'), text.includes('備考'), text.includes('見えない')]).toEqual([true, false, false]);
  });
});
