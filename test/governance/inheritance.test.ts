import { describe, expect, it } from 'vitest';
import { bare, makeXlsx, useWorld } from '../ingest/world.ts';
import { ok, refused } from '../setup/api.ts';
import { setPolicy, tagColumn, untagColumn } from '../setup/governance.ts';
import { makeBook } from '../transforms/world.ts';

const world = await useWorld();
const { client } = world.owner;
const base = '/api/v1/workbooks/{workbook_id}' as const;

/** Tags as `table.column tag`, inherited ones with where they come from. */
async function listTags(workbookId: string): Promise<string[]> {
  const { classifications } = ok(await client.GET(`${base}/classifications`, { params: { path: { workbook_id: workbookId } } }));
  return classifications
    .map(({ table, column, tag, inherited_from: from }) => `${table}.${column} ${tag}${from ? ` < ${from.table}.${from.column}` : ''}`)
    .sort();
}

const people = [
  { 名前: '佐藤', 部署: '営業', 給与: 500 },
  { 名前: '鈴木', 部署: '開発', 給与: 600 },
];
const columns = [{ name: '名前' }, { name: '部署' }, { name: '給与', type: 'BIGINT' }];

async function makePeople() {
  const book = await makeBook(world);
  await book.table('社員', columns, people);
  return book;
}
const averages = { name: '平均', template: 'SELECT 部署, avg(給与) AS 平均給与 FROM {{ s }} GROUP BY 部署', args: { s: '社員' } };
const highest = { name: '最高', template: 'SELECT max(平均給与) AS 額 FROM {{ m }}', args: { m: '平均' } };

describe('tags of derived columns', () => {
  it('are those of the columns that they are computed from, whichever came first', async () => {
    const book = await makePeople();
    await book.create(averages);
    expect(await tagColumn(client, book.id, '社員', '給与', 'hr')).toEqual({
      name: '社員',
      column: '給与',
      tags: ['hr'],
      reached: [{ table: '平均', column: '平均給与' }],
    });
    await book.create(highest);
    const inherited = ['平均.平均給与 hr < 社員.給与', '最高.額 hr < 平均.平均給与', '社員.給与 hr'];
    expect(await listTags(book.id)).toEqual(inherited);
    // Again changes nothing.
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    expect(await listTags(book.id)).toEqual(inherited);
    await setPolicy(client, book.id, 'hr', 'mask');
    expect(await book.read('最高')).toMatchObject([{ 額: null }]);
    expect((await book.read('平均')).map(({ 部署 }) => 部署).sort()).toEqual(['営業', '開発']);
  });

  it('include those of columns that filter, join and group', async () => {
    const book = await makePeople();
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    await tagColumn(client, book.id, '社員', '部署', 'org');
    await book.create({ name: '高給', template: 'SELECT 名前 FROM {{ s }} WHERE 給与 > 550', args: { s: '社員' } });
    await book.create({ name: '人数', template: 'SELECT count(*) AS 人 FROM {{ s }} GROUP BY 部署', args: { s: '社員' } });
    expect(await listTags(book.id)).toEqual(['人数.人 org < 社員.部署', '社員.給与 hr', '社員.部署 org', '高給.名前 hr < 社員.給与']);
  });

  it('flow through views and from tables that are replaced', async () => {
    const book = await makePeople();
    await book.create({ ...averages, materialize: 'view' });
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    await setPolicy(client, book.id, 'hr', 'deny');
    expect(await book.read('平均')).toEqual([expect.not.objectContaining({ 平均給与: expect.anything() }), expect.anything()]);
    expect(JSON.stringify(await book.read('平均'))).not.toContain('平均給与');
  });

  it('stay away where somebody took them off, and stay where they were elsewhere', async () => {
    const book = await makePeople();
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    await book.create(averages);
    await book.create(highest);
    ok(await untagColumn(client, book.id, '平均', '平均給与', 'hr'));
    expect(await listTags(book.id)).toEqual(['最高.額 hr < 平均.平均給与', '社員.給与 hr']);
    await book.run('平均');
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    expect(await listTags(book.id)).toEqual(['最高.額 hr < 平均.平均給与', '社員.給与 hr']);
    // What is derived from it now has nothing of it.
    await book.create({ name: '最低', template: 'SELECT min(平均給与) AS 額 FROM {{ m }}', args: { m: '平均' } });
    expect(await listTags(book.id)).toEqual(['最高.額 hr < 平均.平均給与', '社員.給与 hr']);
    // Until somebody attaches it here.
    await tagColumn(client, book.id, '平均', '平均給与', 'hr');
    expect(await listTags(book.id)).toEqual([
      '平均.平均給与 hr',
      '最低.額 hr < 平均.平均給与',
      '最高.額 hr < 平均.平均給与',
      '社員.給与 hr',
    ]);
  });

  it('stay when the transform is replaced, and reach versions that it made before', async () => {
    const book = await makePeople();
    const copy = { name: '写し', template: 'SELECT 名前, 給与 AS 値 FROM {{ s }}', args: { s: '社員' }, key: ['名前'] };
    const first = await book.create(copy);
    await book.create({ ...copy, template: 'SELECT 名前, 1::BIGINT AS 値 FROM {{ s }}' });
    // The column holds no salaries any more, but an older version does.
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    await setPolicy(client, book.id, 'hr', 'deny');
    const version = first.output?.edit_version ?? 1;
    const old = await client.GET(`${base}/tables/{name}/rows`, {
      params: { path: { workbook_id: book.id, name: '写し' }, query: { at_version: version } },
    });
    expect(JSON.stringify(ok(old))).not.toContain('500');
    expect(JSON.stringify(ok(old))).toContain('佐藤');
  });
});

describe('tags of a column', () => {
  const readAt = async (workbookId: string, version: number) =>
    JSON.stringify(
      ok(
        await client.GET(`${base}/tables/{name}/rows`, {
          params: { path: { workbook_id: workbookId, name: '社員' }, query: { at_version: version } },
        }),
      ),
    );

  it('stay when it is renamed or gets another type', async () => {
    const book = await makePeople();
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    await book.alterColumn('社員', '給与', { new_name: '報酬' });
    expect(await listTags(book.id)).toEqual(['社員.報酬 hr']);
    await book.alterColumn('社員', '報酬', { type: 'VARCHAR' });
    expect(await listTags(book.id)).toEqual(['社員.報酬 hr']);
    await setPolicy(client, book.id, 'hr', 'deny');
    for (const version of [2, 3, 4]) expect(await readAt(book.id, version)).not.toMatch(/500|給与|報酬/);
  });

  it('reach the versions before it got another type, and come off there, too', async () => {
    const book = await makePeople();
    await book.alterColumn('社員', '給与', { type: 'VARCHAR' });
    await setPolicy(client, book.id, 'hr', 'deny');
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    for (const version of [2, 3]) expect(await readAt(book.id, version)).not.toMatch(/500|給与/);
    ok(await untagColumn(client, book.id, '社員', '給与', 'hr'));
    for (const version of [2, 3]) expect(await readAt(book.id, version)).toMatch(/500/);
  });

  it('go with it when it is dropped, and stay in older versions', async () => {
    const book = await makePeople();
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    await book.dropColumn('社員', '給与');
    expect(await listTags(book.id)).toEqual([]);
    await book.addColumn('社員', '給与');
    expect(await listTags(book.id)).toEqual([]);
    await setPolicy(client, book.id, 'hr', 'deny');
    expect(await readAt(book.id, 2)).not.toMatch(/500|給与/);
    expect(await readAt(book.id, 4)).toMatch(/給与/);
  });

  it('are not rolled back by a restore', async () => {
    const book = await makePeople();
    const snapshot = ok(await client.POST(`${base}/snapshots`, { params: { path: { workbook_id: book.id } }, body: { summary: 'x' } }));
    await book.alterColumn('社員', '給与', { type: 'VARCHAR' });
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    await setPolicy(client, book.id, 'hr', 'deny');
    ok(
      await client.POST(`${base}/snapshots/{snapshot_id}/restore`, {
        params: { path: { workbook_id: book.id, snapshot_id: snapshot.id } },
      }),
    );
    expect(JSON.stringify(await book.read('社員'))).not.toMatch(/500|給与/);
    expect(await listTags(book.id)).toEqual(['社員.給与 hr']);
  });
});

describe('tags of tables that come from files', () => {
  const revise = async (workbookId: string, rows: (string | number)[][]) => {
    const response = await world.send('在庫.xlsx', await makeXlsx({ S: rows }), {
      path: `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('在庫.xlsx')}/revise`,
    });
    expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  };
  const upload = async (rows: (string | number)[][], structuring = 'auto') => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await makeXlsx({ S: rows }), { workbookId, fields: { structuring } });
    return workbookId;
  };
  const [header = [], ...rows] = bare(3) as (string | number)[][];

  it('flow from structured tables back to the raw columns that hold the same cells, and from raw ones to them', async () => {
    const workbookId = await upload([header, ...rows]);
    const { reached } = await tagColumn(client, workbookId, '在庫', '数量', 'secret');
    expect(reached).toEqual([{ table: '在庫_原本', column: expect.stringMatching(/^[A-C]$/) }]);
    const letter = reached[0]?.column ?? '';
    const other = letter === 'A' ? 'B' : 'A';
    const flowed = await tagColumn(client, workbookId, '在庫_原本', other, 'own');
    expect(flowed.reached).toEqual([{ table: '在庫', column: header[other === 'A' ? 0 : 1] }]);
    await setPolicy(client, workbookId, 'secret', 'deny');
    expect(Object.keys((await world.readRows('在庫_原本', workbookId))[0] ?? {})).not.toContain(letter);
  });

  it('flow to tables that are structured after the raw one was tagged', async () => {
    const [workbookId, bytes] = [await world.newWorkbook(), await makeXlsx({ S: [header, ...rows] })];
    await world.upload('在庫.xlsx', bytes, { workbookId, fields: { structuring: 'skip' } });
    await tagColumn(client, workbookId, '在庫', 'B', 'secret');
    await world.upload('在庫.xlsx', bytes, { workbookId });
    expect(await listTags(workbookId)).toContain(`在庫.${header[1]} secret < 在庫_原本.B`);
  });

  it('come back by column with new bytes, and what was not there before is denied until somebody takes `unreviewed` off', async () => {
    const workbookId = await upload([header, ...rows]);
    await tagColumn(client, workbookId, '在庫', '数量', 'secret');
    // A column comes in front, and the numbers become text.
    await revise(workbookId, [
      ['備考', ...header],
      ...rows.map((row, i) => [`注 ${i}`, ...row.map((cell) => (typeof cell === 'number' ? `約${cell}` : cell))]),
    ]);
    const tags = await listTags(workbookId);
    expect(tags).toContain('在庫.備考 unreviewed');
    expect(tags.filter((tag) => tag.startsWith('在庫.'))).toEqual(['在庫.備考 unreviewed', '在庫.数量 secret']);
    // In the raw table the cells have moved, and their tags with them.
    const letters = tags.filter((tag) => tag.startsWith('在庫_原本.'));
    expect(letters).toEqual(
      expect.arrayContaining([expect.stringMatching(/A unreviewed < 在庫\.備考/), expect.stringMatching(/ secret < 在庫\.数量/)]),
    );
    expect(letters.filter((tag) => tag.includes('secret'))).toHaveLength(2);
    // No policy is needed for that, and it makes the workbook governed.
    const reader = world.api.as(await readOnlyToken());
    const seen = async (name: string) =>
      JSON.stringify(ok(await reader.GET(`${base}/tables/{name}/rows`, { params: { path: { workbook_id: workbookId, name } } })));
    expect(await seen('在庫')).not.toMatch(/備考|注 1/);
    expect(await seen('在庫_原本')).not.toMatch(/備考|注 1/);
    const source = { path: { workbook_id: workbookId, source_name: '在庫.xlsx' } };
    refused(await client.GET(`${base}/sources/{source_name}/download`, { params: source }), 403, 'governed-workbook');
    ok(await untagColumn(client, workbookId, '在庫', '備考', 'unreviewed'));
    expect(await seen('在庫')).toMatch(/注 1/);
    expect(await seen('在庫_原本')).not.toMatch(/注 1/);
    ok(await untagColumn(client, workbookId, '在庫_原本', 'A', 'unreviewed'));
    expect(await seen('在庫_原本')).toMatch(/注 1/);
  });

  it('leave nothing open in a raw table whose letters may hold something else', async () => {
    const workbookId = await upload([header, ...rows], 'skip');
    await tagColumn(client, workbookId, '在庫', 'C', 'secret');
    await revise(workbookId, [header, ...rows, ...rows]);
    expect(await listTags(workbookId)).toEqual(['在庫.A unreviewed', '在庫.B unreviewed', '在庫.C secret']);
  });

  it('are on what is materialized again from the file, and nothing is appended elsewhere', async () => {
    const workbookId = await upload([header, ...rows]);
    await tagColumn(client, workbookId, '在庫', '数量', 'secret');
    const params = { path: { workbook_id: workbookId, source_name: '在庫.xlsx' } };
    ok(await client.POST(`${base}/sources/{source_name}/analyze`, { params }));
    const spec = ok(await client.GET(`${base}/sources/{source_name}/parse-spec`, { params }));
    const renamed = {
      ...spec,
      regions: spec.regions.map((region) => ({
        ...region,
        columns: region.columns.map((column, i) => ({ ...column, name: column.name === '数量' ? 'harmless' : column.name || `c${i}` })),
      })),
    };
    ok(await client.PUT(`${base}/sources/{source_name}/parse-spec`, { params, body: renamed }));
    const made = ok(await client.POST(`${base}/sources/{source_name}/materialize`, { params, body: {} })) as {
      artifacts: { name: string }[];
    };
    expect(await listTags(workbookId)).toContainEqual(expect.stringMatching(`^${made.artifacts[0]?.name}.harmless secret < 在庫_原本`));
    const book = { workbook_id: workbookId };
    ok(
      await client.POST(`${base}/tables`, {
        params: { path: book },
        body: { name: '台帳', columns: header.map((name) => ({ name: String(name === '数量' ? 'harmless' : name), type: 'VARCHAR' })) },
      }),
    );
    const append = { target: { mode: 'append' as const, table: '台帳', expected_version: 1 } };
    refused(await client.POST(`${base}/sources/{source_name}/materialize`, { params, body: append }), 409, 'in-use');
  });
});

async function readOnlyToken(): Promise<string> {
  return ok(await client.POST('/api/v1/me/tokens', { body: { name: 'reader', scopes: ['workbooks:read'] } })).token;
}
