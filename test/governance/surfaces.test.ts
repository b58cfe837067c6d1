import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { bare, makeXlsx } from '../ingest/world.ts';
import { ok, refused } from '../setup/api.ts';
import { hideColumns, setPolicy, showColumns, tagColumn } from '../setup/governance.ts';
import { makeTable } from '../setup/tables.ts';
import { makeBook as makeDerived } from '../transforms/world.ts';
import { useGovernance } from './world.ts';

const { store, api, owner, makeWorkbook } = await useGovernance();
const { client } = owner;
const base = '/api/v1/workbooks/{workbook_id}' as const;

/** What is in the columns is nowhere else in the answers. */
const row = { 名前: '佐藤', 給与: 'secret 500', 住所: 'secret 東京' };

async function makeBook() {
  const id = await makeWorkbook();
  await makeTable(client, id, '社員', [{ name: '名前' }, { name: '給与' }, { name: '住所' }], [row]);
  const path = { workbook_id: id };
  return {
    id,
    path,
    named: { params: { path: { ...path, name: '社員' } } },
    query: async (sql: string) => {
      const answer = ok(await client.POST(`${base}/query`, { params: { path }, body: { sql } }));
      return (answer as unknown as { id: string }).id;
    },
    hide: (effects: Record<string, 'mask' | 'deny'>) => hideColumns(client, id, '社員', effects),
  };
}
const readResult = (id: string) => client.GET('/api/v1/results/{result_id}', { params: { path: { result_id: id } } });

describe('a kept result', () => {
  it('is refused once a policy would have changed it, and is back when that is gone', async () => {
    const book = await makeBook();
    await makeTable(client, book.id, '部署', [{ name: '名' }], [{ 名: '営業' }]);
    const [before, other] = [await book.query('SELECT * FROM 社員'), await book.query('SELECT * FROM 部署')];
    await tagColumn(client, book.id, '社員', '給与', 'hr');
    ok(await readResult(before));
    for (const effect of ['mask', 'deny'] as const) {
      await setPolicy(client, book.id, 'hr', effect);
      const problem = refused(await readResult(before), 410, 'expired');
      expect(JSON.stringify(problem)).not.toMatch(/secret|給与/);
    }
    ok(await readResult(other));
    const denied = await book.query('SELECT * FROM 社員');
    ok(await readResult(denied));
    // A role that is exempt is not asked for: nothing changed for the owner.
    await setPolicy(client, book.id, 'hr', 'allow', 'somebody');
    ok(await readResult(denied));
    await setPolicy(client, book.id, 'hr', 'allow');
    ok(await readResult(before));
    refused(await readResult(denied), 410, 'expired');
  });
});

describe('what is written down', () => {
  it('says nothing of the names of columns: audit log, ops and events', async () => {
    const book = await makeBook();
    const column = { params: { path: { ...book.path, name: '社員', column: '給与' } } };
    ok(await client.PUT(`${base}/artifacts/{name}/columns/{column}/description`, { ...column, body: { description: 'x' } }));
    const alter = (name: string, change: { new_name: string } | { type: string }) =>
      client.PATCH(`${base}/artifacts/{name}/columns/{column}`, {
        params: { path: { ...book.path, name: '社員', column: name } },
        body: { ...change, expected_version: null },
      });
    ok(await alter('給与', { new_name: '報酬' }));
    ok(await alter('報酬', { new_name: '給与' }));
    ok(
      await client.POST(`${base}/artifacts/{name}/columns`, {
        ...book.named,
        body: { column: '賞与', expected_version: null, type: 'BIGINT' },
      }),
    );
    ok(await alter('賞与', { type: 'VARCHAR' }));
    ok(
      await client.DELETE(`${base}/artifacts/{name}/columns/{column}`, {
        params: { path: { ...book.path, name: '社員', column: '賞与' }, query: { expected_version: 'null' } },
      }),
    );
    await book.hide({ 給与: 'deny' });
    const told = [
      await client.GET(`${base}/audit-log`, { params: { path: book.path } }),
      await client.GET(`${base}/ops`, { params: { path: book.path } }),
      (await api.sql.query('SELECT * FROM outbox WHERE scope = $1', [book.id])).rows,
    ];
    expect(JSON.stringify(told)).not.toMatch(/給与|報酬|賞与|secret/);
    expect(JSON.stringify(told)).toContain('column.rename');
  });

  it('keeps notes on masked columns to itself, in lists and in files', async () => {
    const book = await makeBook();
    const annotations = ['給与', '住所', '名前'].map((column) => ({
      target: { row_id: 1, column },
      note: `note on ${column}`,
      style: { bold: true },
    }));
    ok(await client.POST(`${base}/tables/{name}/annotations`, { ...book.named, body: { annotations } }));
    await book.hide({ 給与: 'mask', 住所: 'deny' });
    const listed = ok(await client.GET(`${base}/tables/{name}/annotations`, book.named));
    expect(listed.annotations.map(({ target, note }) => [target.column, note])).toEqual([
      ['名前', 'note on 名前'],
      ['給与', null],
    ]);
    const exported = await api.fetch(`/api/v1/workbooks/${book.id}/export`, {
      method: 'POST',
      token: owner.session,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tables: ['社員'], format: 'xlsx' }),
    });
    const file = await new ExcelJS.Workbook().xlsx.load(await exported.arrayBuffer());
    const told: unknown[] = [];
    file.worksheets[0]?.eachRow((cells) => cells.eachCell({ includeEmpty: true }, ({ value, note }) => told.push(value, note)));
    const text = JSON.stringify(told);
    expect(text).toContain('note on 名前');
    expect(text).not.toMatch(/note on (給与|住所)|secret/);
    expect([exported.headers.get('x-svc-masked-columns'), exported.headers.get('x-svc-denied-columns')]).toEqual([
      encodeURIComponent('給与'),
      '1',
    ]);
  });
});

describe('a repeated request', () => {
  it('is not answered with cells that were shown before policies or roles changed, and is not carried out again', async () => {
    const book = await makeBook();
    const key = `repeat of ${book.id}`;
    const write = () =>
      client.PUT(`${base}/tables/{name}/range`, {
        ...book.named,
        params: { ...book.named.params, header: { 'Idempotency-Key': key } },
        body: { range: 'A2:C2', values: [['鈴木', null, null]], expected_version: null },
      });
    const first = ok(await write());
    expect(JSON.stringify(first)).toContain('secret 500');
    expect(ok(await write())).toEqual(first);
    await book.hide({ 給与: 'mask' });
    const problem = refused(await write(), 422, 'idempotency-mismatch');
    expect(JSON.stringify(problem)).not.toContain('secret');
    expect(ok(await client.GET(`${base}/tables/{name}`, book.named)).edit_version).toBe(first.edit_version);
  });

  it('is answered as before where it changed the policies itself', async () => {
    const book = await makeBook();
    const header = { 'Idempotency-Key': `policy of ${book.id}` };
    const set = () =>
      client.PUT(`${base}/policies/{tag}`, { params: { path: { ...book.path, tag: 'hr' }, header }, body: { effect: 'mask', role: '*' } });
    const first = ok(await set());
    expect(ok(await set())).toEqual(first);
  });
});

describe('what failed', () => {
  it('is told in no words of the data any more once policies changed', async () => {
    const book = await makeDerived(store);
    await book.table('社員', [{ name: '名前' }, { name: '給与' }], [{ 名前: '佐藤', 給与: 'secret 500' }]);
    await book.create({ name: '写し', template: 'SELECT 名前, 給与 FROM {{ s }}', args: { s: '社員' } });
    await book.create({ name: '数', template: 'SELECT try_cast(給与 AS BIGINT) AS n FROM {{ s }}', args: { s: '社員' }, run: true });
    ok(
      await client.POST(`${base}/transforms`, {
        params: { path: { workbook_id: book.id } },
        body: {
          name: '数',
          language: 'sql',
          template: 'SELECT CAST(給与 AS BIGINT) AS n FROM {{ s }}',
          args: { s: '社員' },
          run: false,
          materialize: 'table',
        },
      }),
    );
    const recomputed = await book.recompute();
    expect(JSON.stringify(recomputed.failed)).toContain('secret 500');
    const list = async () => JSON.stringify(ok(await client.GET('/api/v1/jobs')));
    const { jobs } = ok(await client.GET('/api/v1/jobs'));
    const id = jobs.find(({ kind, workbook_id: at }) => kind === 'recompute' && at === book.id)?.job_id ?? '';
    const one = async () => JSON.stringify(ok(await client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: id } } })));
    expect([await list(), await one()]).toEqual([expect.stringContaining('secret 500'), expect.stringContaining('secret 500')]);
    await hideColumns(client, book.id, '社員', { 給与: 'deny' });
    for (const told of [await list(), await one()]) expect(told).not.toMatch(/secret 500|給与/);
    expect(JSON.stringify(await book.list())).not.toMatch(/secret 500|給与/);
  });
});

describe('writes', () => {
  it('to masked and denied cells are refused, and nothing is written', async () => {
    const book = await makeBook();
    await book.hide({ 給与: 'mask', 住所: 'deny' });
    const write = (cells: Record<string, unknown>) =>
      client.POST(`${base}/tables/{name}/rows`, { ...book.named, body: { expected_version: null, rows: [cells] } });
    refused(await write({ __svc_row_id: 1, 給与: 'x' }), 403, 'insufficient-role');
    refused(await write({ __svc_row_id: 1, 住所: 'x' }), 422, 'validation-failed');
    refused(await write({ 名前: 'new', 給与: 'x' }), 403, 'insufficient-role');
    const range = (range: string) =>
      client.PUT(`${base}/tables/{name}/range`, { ...book.named, body: { expected_version: null, range, values: [['x']] } });
    refused(await range('B2'), 403, 'insufficient-role');
    refused(await range('C2'), 422, 'validation-failed');
    await showColumns(client, book.id);
    const page = ok(await client.GET(`${base}/tables/{name}/rows`, book.named)) as { rows: unknown[] };
    expect(page.rows).toEqual([{ ...row, __svc_row_id: 1 }]);
  });
});

describe('the original file of a governed workbook', () => {
  it('is shown to nobody: bytes, cells, new bytes, the parse spec', async () => {
    const id = await makeWorkbook();
    const send = async (path: string) => {
      const form = new FormData();
      form.set('file', new Blob([(await makeXlsx({ S: bare(3) })) as Uint8Array<ArrayBuffer>]), '在庫.xlsx');
      return api.fetch(`/api/v1/workbooks/${id}/${path}`, { method: 'POST', body: form, token: owner.session });
    };
    expect((await send('sources')).status).toBe(201);
    const source = { params: { path: { workbook_id: id, source_name: '在庫.xlsx' } } };
    ok(await client.POST(`${base}/sources/{source_name}/analyze`, source));
    await tagColumn(client, id, '在庫', '数量', 'secret');
    ok(await client.GET(`${base}/sources/{source_name}/parse-spec`, source));
    await setPolicy(client, id, 'secret', 'deny');
    const fix = (problem: Record<string, unknown>) => expect(problem.suggested_fix).toContain('tables');
    fix(refused(await client.GET(`${base}/sources/{source_name}/download`, source), 403, 'governed-workbook'));
    fix(refused(await client.GET(`${base}/sources/{source_name}/preview`, source), 403, 'governed-workbook'));
    fix(refused(await client.GET(`${base}/sources/{source_name}/parse-spec`, source), 403, 'governed-workbook'));
    fix(refused(await client.POST(`${base}/sources/{source_name}/analyze`, source), 403, 'governed-workbook'));
    const revised = await send(`sources/${encodeURIComponent('在庫.xlsx')}/revise`);
    expect([revised.status, ((await revised.json()) as { type: string }).type]).toEqual([403, 'urn:svc:problem:governed-workbook']);
    const told = [
      ok(await client.GET(`${base}/sources`, { params: { path: { workbook_id: id } } })),
      ok(await client.GET(`${base}/sources/{source_name}`, source)),
      ok(await client.GET('/api/v1/jobs')).jobs.filter(({ workbook_id: at }) => at === id),
    ];
    expect(JSON.stringify(told)).not.toContain('数量');
    // A file that nothing is tagged of goes its way.
    const form = new FormData();
    form.set('file', new Blob(['x,y\n1,2\n']), 'new.csv');
    form.set('mode', 'staged');
    expect((await api.fetch(`/api/v1/workbooks/${id}/sources`, { method: 'POST', body: form, token: owner.session })).status).toBe(201);
    const other = { params: { path: { workbook_id: id, source_name: 'new.csv' } } };
    ok(await client.POST(`${base}/sources/{source_name}/analyze`, other));
    ok(await client.POST(`${base}/sources/{source_name}/materialize`, { ...other, body: {} }));
  });
});
