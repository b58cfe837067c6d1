import { describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { ok, refused } from '../setup/api.ts';
import { hideColumns, untagColumn } from '../setup/governance.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';
import { makeBook } from './world.ts';

type Graph = components['schemas']['TableLineage'];

const store = await useStoreWithWorker();

/** 売上 → 店別 → 首位 */
async function makeChain() {
  const book = await makeBook(store);
  const rows = [
    { 店: '東京', 月: '04', 金額: 100 },
    { 店: '大阪', 月: '04', 金額: 30 },
  ];
  await book.table('売上', [{ name: '店' }, { name: '月' }, { name: '金額', type: 'BIGINT' }], rows);
  await book.create({
    name: '店別',
    template: 'SELECT 店, sum(金額) AS 合計 FROM {{ d }} GROUP BY 店',
    args: { d: '売上' },
  });
  await book.create({ name: '首位', template: 'SELECT max(合計) AS 最大 FROM {{ d }}', args: { d: '店別' } });
  return book;
}

async function lineageOf(workbookId: string, name: string): Promise<Graph> {
  const params = { path: { workbook_id: workbookId, name } };
  const graph = ok(await store.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/lineage', { params }));
  if (typeof graph === 'string') throw new Error('not JSON');
  return graph;
}

/** Edges as `from → to`, with what they say of columns. */
function write({ nodes, edges }: Graph): Record<string, unknown> {
  const named = new Map(nodes.map(({ id, kind, name }) => [id, `${kind} ${name}`]));
  return Object.fromEntries(edges.map(({ from, to, columns }) => [`${named.get(from)} → ${named.get(to)}`, columns ?? null]));
}

const chain = {
  'table 売上 → transform 店別': [
    { column: '店', to: [], decides_rows: true },
    { column: '金額', to: ['合計'], decides_rows: false },
  ],
  'transform 店別 → table 店別': null,
  'table 店別 → transform 首位': [{ column: '合計', to: ['最大'], decides_rows: false }],
  'transform 首位 → table 首位': null,
};

describe('the lineage of derived tables', () => {
  it('leads through transforms, with the columns that matter, from every table', async () => {
    const book = await makeChain();
    for (const name of ['売上', '店別', '首位']) expect(write(await lineageOf(book.id, name))).toEqual(chain);
    const { nodes } = await lineageOf(book.id, '店別');
    expect(nodes.find(({ kind, name }) => kind === 'table' && name === '店別')).toMatchObject({ stale: false, edit_version: 1 });
    expect(nodes.find(({ name }) => name === '売上')).not.toHaveProperty('stale');
  });

  it('is drawn', async () => {
    const book = await makeChain();
    const path = `/api/v1/workbooks/${book.id}/tables/${encodeURIComponent('店別')}/lineage?format=svg`;
    const picture = await (await store.api.fetch(path, { token: store.owner.session })).text();
    for (const text of ['売上', '店別', '首位', 'transform', '金額 → 合計']) expect(picture).toContain(text);
    expect(picture).not.toContain('stale');
  });

  it('names no column that is denied', async () => {
    const book = await makeChain();
    const { client } = store.owner;
    await hideColumns(client, book.id, '売上', { 金額: 'deny' });
    // What is made of it is denied as well; this one is shown.
    ok(await untagColumn(client, book.id, '店別', '合計', 'to deny'));
    expect(write(await lineageOf(book.id, '店別'))).toEqual({
      ...chain,
      'table 売上 → transform 店別': [{ column: '店', to: [], decides_rows: true }],
      'table 店別 → transform 首位': [],
    });
  });
});

describe('the lineage of derived rows', () => {
  const inputsOf = async (workbookId: string, name: string, rowId: number) => {
    const params = { path: { workbook_id: workbookId, name, row_id: rowId } };
    const found = ok(await store.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/lineage', { params }));
    expect(found.cells).toEqual([]);
    return found.inputs.map(({ table, row_id, edit_version }) => `${table} ${row_id}@${edit_version}`);
  };

  async function makeJoined() {
    const book = await makeBook(store);
    await book.table(
      '売上',
      [{ name: '店' }, { name: '金額', type: 'BIGINT' }],
      [
        { 店: '東京', 金額: 100 },
        { 店: '東京', 金額: 50 },
        { 店: '大阪', 金額: 30 },
      ],
    );
    await book.table('店', [{ name: '店' }, { name: '地域' }], [{ 店: '東京', 地域: '関東' }]);
    const template = 'SELECT d.店, max(地域) AS 地域, sum(金額) AS 計 FROM {{ d }} d LEFT JOIN {{ s }} s USING (店) GROUP BY 1';
    await book.create({ name: '店別', template, args: { d: '売上', s: '店' }, key: ['店'] });
    await book.create({ name: '大', template: 'SELECT 金額 * 2 AS 倍 FROM {{ d }} WHERE 金額 > 40', args: { d: '売上' } });
    await book.create({ name: '全', template: 'SELECT 店 FROM {{ d }} UNION SELECT 店 FROM {{ d }}', args: { d: '売上' } });
    return book;
  }

  it('names the rows that were read, by key and by content, at the versions that were read', async () => {
    const book = await makeJoined();
    const rowOf = async (name: string, wanted: Record<string, unknown>) => {
      const rows = await book.read(name);
      const row = rows.find((each) => Object.entries(wanted).every(([column, value]) => each[column] === value));
      return row?.__svc_row_id as number;
    };
    const tokyo = await rowOf('店別', { 店: '東京' });
    expect(await inputsOf(book.id, '店別', tokyo)).toEqual(['売上 1@2', '売上 2@2', '店 1@2']);
    expect(await inputsOf(book.id, '店別', await rowOf('店別', { 店: '大阪' }))).toEqual(['売上 3@2']);
    expect(await inputsOf(book.id, '大', await rowOf('大', { 倍: 200 }))).toEqual(['売上 1@2']);
    // Edited since, but not run.
    await book.edit('売上', [
      { __svc_row_id: 1, 店: '京都' },
      { 店: '東京', 金額: 1 },
    ]);
    expect(await inputsOf(book.id, '店別', tokyo)).toEqual(['売上 1@2', '売上 2@2', '店 1@2']);
    await book.run('店別');
    expect(await inputsOf(book.id, '店別', tokyo)).toEqual(['売上 2@3', '売上 4@3', '店 1@2']);
  });

  it('is empty where rows cannot be traced, or a column that was read is hidden', async () => {
    const book = await makeJoined();
    expect(await inputsOf(book.id, '全', 1)).toEqual([]);
    await hideColumns(store.owner.client, book.id, '売上', { 金額: 'mask' });
    expect(await inputsOf(book.id, '店別', 1)).toEqual([]);
    const params = { path: { workbook_id: book.id, name: '店別', row_id: 99 } };
    refused(
      await store.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/lineage', { params }),
      404,
      'not-found',
    );
  });
});
