import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { makeWorkbookWith, useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();

const base = '/api/v1/workbooks/{workbook_id}' as const;
const inBook = () => ({ workbook_id: world.workbookId });
const list = async (state?: 'active' | 'archived') =>
  ok(await world.owner.client.GET(`${base}/tables`, { params: { path: inBook(), query: { state } } })).tables.map((table) => table.name);

describe('createTable, getTable, archiveArtifact and deleteTable: a table', () => {
  it('takes the types of the list under their usual names, and no others', async () => {
    const given = [
      'TEXT',
      'int',
      'Integer',
      'float8',
      'NUMERIC',
      'decimal(10, 2)',
      'bool',
      'date',
      'datetime',
      'time',
      'jsonb',
      'varchar(20)',
    ];
    const table = await world.makeTable(
      'types',
      given.map((type, i) => ({ name: `c${i}`, type })),
    );
    expect((await table.columns()).map((column) => column.type)).toEqual([
      ...[
        'VARCHAR',
        'BIGINT',
        'BIGINT',
        'DOUBLE',
        'DECIMAL(18,3)',
        'DECIMAL(10,2)',
        'BOOLEAN',
        'DATE',
        'TIMESTAMP',
        'TIME',
        'JSON',
        'VARCHAR',
      ],
      'BIGINT',
    ]);
    for (const type of ['BLOB', 'HUGEINT', 'VARCHAR[]', 'DECIMAL(39,2)', 'DECIMAL(4,5)', 'VARCHAR); DROP TABLE x; --', '']) {
      const answer = await world.owner.client.POST(`${base}/tables`, {
        params: { path: inBook() },
        body: { name: 'odd types', columns: [{ name: 'a' }, { name: 'b', type }] },
      });
      expect(refused(answer, 422, 'validation-failed').errors).toMatchObject([{ pointer: '/columns/1/type' }]);
    }
  });

  it('is listed, described, archived, brought back and deleted', async () => {
    const table = await world.makeTable('生涯', [{ name: 'a' }]);
    const { client } = world.owner;
    const path = table.path;
    ok(await client.PUT(`${base}/artifacts/{name}/description`, { params: { path }, body: { description: '説明' } }));
    expect(ok(await client.GET(`${base}/tables/{name}`, { params: { path } }))).toMatchObject({
      description: '説明',
      edit_version: 1,
      layer: 'base',
      state: 'active',
    });
    expect(await list()).toContain('生涯');
    ok(await client.POST(`${base}/artifacts/{name}/archive`, { params: { path } }));
    expect([await list('active'), await list('archived')]).toEqual([expect.not.arrayContaining(['生涯']), ['生涯']]);
    refused(await table.upsert([{ a: 'x' }]), 409, 'in-use');
    // The name is free meanwhile; while it is taken, the old one cannot come back.
    const second = await world.makeTable('生涯', [{ name: 'b' }]);
    refused(await client.POST(`${base}/artifacts/{name}/unarchive`, { params: { path } }), 409, 'name-taken');
    ok(await second.upsert([{ b: '1' }]));
    const remove = (expected_version: string) => client.DELETE(`${base}/tables/{name}`, { params: { path, query: { expected_version } } });
    refused(await remove('1'), 409, 'version-conflict');
    expect((await remove('2')).response.status).toBe(204);
    ok(await client.POST(`${base}/artifacts/{name}/unarchive`, { params: { path } }));
    ok(await table.upsert([{ a: 'x' }]));
    expect(await list('archived')).toEqual([]);
  });

  it('is described once: the same description again leaves nothing behind', async () => {
    const { path } = await world.makeTable('説明', [{ name: 'a' }]);
    const describeBoth = async (description: string | null) => {
      ok(await world.owner.client.PUT(`${base}/artifacts/{name}/description`, { params: { path }, body: { description } }));
      const params = { path: { ...path, column: 'a' } };
      ok(await world.owner.client.PUT(`${base}/artifacts/{name}/columns/{column}/description`, { params, body: { description } }));
    };
    const readActions = async () => {
      const { rows } = await api.sql.query("SELECT action FROM audit_entries WHERE target IN ('説明', '説明.a') ORDER BY seq");
      return rows.map(({ action }) => action);
    };
    await describeBoth(null);
    expect(await readActions()).toEqual(['table.create']);
    await describeBoth('売上');
    await describeBoth('売上');
    expect(await readActions()).toEqual(['table.create', 'table.describe', 'column.describe']);
  });

  it('is reached by its id where another table has its name', async () => {
    const { owner, workbookId, makeTable } = await makeWorkbookWith(api);
    const { client } = owner;
    const ids: string[] = [];
    for (const text of ['first', 'second', 'third']) {
      const table = await makeTable('同名', [{ name: 'a' }]);
      ok(await table.upsert([{ a: text }]));
      ids.push(ok(await client.GET(`${base}/tables/{name}`, { params: { path: table.path } })).id as string);
      ok(await client.POST(`${base}/artifacts/{name}/archive`, { params: { path: table.path } }));
    }
    const byId = (i: number) => ({ params: { path: { workbook_id: workbookId, name: ids[i] as string } } });
    const archived = ok(
      await client.GET(`${base}/artifacts`, { params: { path: { workbook_id: workbookId }, query: { state: 'archived' } } }),
    );
    expect(archived.artifacts.map(({ id, name }) => [id, name])).toEqual(ids.map((id) => [id, '同名']));
    expect(ok(await client.POST(`${base}/artifacts/{name}/unarchive`, byId(0)))).toMatchObject({ name: '同名', state: 'active' });
    expect(ok(await client.GET(`${base}/tables/{name}/rows`, byId(0)))).toMatchObject({ name: '同名', rows: [{ a: 'first' }] });
    expect(ok(await client.GET(`${base}/tables/{name}/rows`, byId(1)))).toMatchObject({ name: '同名', rows: [{ a: 'second' }] });
    refused(await client.POST(`${base}/artifacts/{name}/unarchive`, byId(1)), 409, 'name-taken');
    const other = ok(await client.POST('/api/v1/workbooks', { body: { title: 'other' } }));
    const elsewhere = { params: { path: { workbook_id: other.id, name: ids[0] as string } } };
    refused(await client.GET(`${base}/tables/{name}`, elsewhere), 404, 'not-found');
  });

  it('is listed oldest first, a hundred a page unless told otherwise', async () => {
    const own = await makeWorkbookWith(api);
    const names = Array.from({ length: 101 }, (_, i) => `t${(i * 37) % 101}`);
    for (const name of names) await own.makeTable(name, [{ name: 'a' }]);
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const params = { path: { workbook_id: own.workbookId }, query: { cursor } };
      const page = ok(await own.owner.client.GET(`${base}/tables`, { params }));
      expect(page.tables.length).toBe(Math.min(100, names.length - listed.length));
      listed.push(...page.tables.map((table) => table.name));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(listed).toEqual(names);
  });

  it('shows its schema with five rows, and one row of it as JSON Schema', async () => {
    const table = await world.makeTable('schema', [
      { name: '文', type: 'VARCHAR' },
      { name: '数', type: 'BIGINT' },
      { name: '額', type: 'DECIMAL(18,2)' },
      { name: '他', type: 'JSON' },
    ]);
    ok(await table.upsert(Array.from({ length: 7 }, (_, i) => ({ 文: `t${i}`, 数: i }))));
    ok(await table.add({ column: '後', type: 'DATE' }));
    const { client } = world.owner;
    const schema = ok(await client.GET(`${base}/tables/{name}/schema`, { params: { path: table.path } })) as unknown as Record<
      string,
      unknown
    >;
    expect(schema).toMatchObject({ row_count: 7 });
    expect((schema.columns as { name: string }[]).map(({ name }) => name)).toEqual(['文', '数', '額', '他', '後', '__svc_row_id']);
    expect((schema.sample as unknown[]).length).toBe(5);
    const answer = await api.fetch(`/api/v1/workbooks/${world.workbookId}/tables/schema/schema?format=json-schema`, {
      token: world.owner.session,
    });
    expect(answer.headers.get('content-type')).toMatch(/^application\/schema\+json/);
    const rowSchema = (await answer.json()) as {
      additionalProperties: boolean;
      required?: unknown;
      properties: Record<string, { type?: unknown }>;
    };
    expect(rowSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(rowSchema.required).toBeUndefined();
    expect(Object.keys(rowSchema.properties)).toEqual(['文', '数', '額', '他', '後', '__svc_row_id']);
    for (const [name, { type }] of Object.entries(rowSchema.properties)) {
      if (name === '__svc_row_id') expect(type).toBe('integer');
      else expect(type === undefined || (type as string[]).includes('null')).toBe(true);
    }
  });

  it('has a JSON Schema that its own rows fit, and that refuses what a write would', async () => {
    const table = await world.makeTable('fitting', [
      { name: 's' },
      { name: 'i', type: 'BIGINT' },
      { name: 'f', type: 'DOUBLE' },
      { name: 'd', type: 'DECIMAL(38,4)' },
      { name: 'b', type: 'BOOLEAN' },
      { name: 'day', type: 'DATE' },
      { name: 'at', type: 'TIMESTAMP' },
      { name: 'time', type: 'TIME' },
      { name: 'j', type: 'JSON' },
    ]);
    const whole = {
      s: 'x',
      i: '9223372036854775807',
      f: 0.5,
      d: '-1.5',
      b: true,
      day: '2024-02-29',
      at: '2024-04-01T09:30',
      time: '09:30',
    };
    ok(await table.upsert([{ ...whole, j: { a: [1] } }, {}, { i: -1, d: 12.5, time: '23:59:59.25' }]));
    const address = `/api/v1/workbooks/${world.workbookId}/tables/fitting/schema`;
    const schemas = await Promise.all(
      ['?format=json-schema', ''].map((query) => api.fetch(`${address}${query}`, { token: world.owner.session })),
    );
    for (const answer of schemas) expect(answer.headers.get('etag')).toMatch(/^"2-/);
    // As RFC 3339 has them, and with it JSON Schema.
    const time = /^\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
    const fits = new Ajv2020({ strict: false, formats: { date: /^\d{4}-\d\d-\d\d$/, time } }).compile((await schemas[0]?.json()) as object);
    const { rows } = await table.read();
    for (const row of rows) expect([row, fits(row), fits.errors]).toEqual([row, true, null]);
    for (const cell of [{ x: 1 }, { i: 'a' }, { i: '' }, { d: '' }, { d: '.' }, { time: 'noon' }, { at: 'now' }, { __svc_row_id: 0 }]) {
      expect([cell, fits(cell)]).toEqual([cell, false]);
      refused(await table.upsert([cell]), 422, 'validation-failed');
    }
  });

  it('without a row has its types, whoever reads it', async () => {
    const types = ['VARCHAR', 'BIGINT', 'DOUBLE', 'DECIMAL(10,2)', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'TIME', 'JSON'];
    const table = await world.makeTable(
      'empty',
      types.map((type, i) => ({ name: `c${i}`, type })),
    );
    const { client } = world.owner;
    for (const i of types.keys()) expect((await table.read({ sort: [`c${i}:desc`] })).rows).toEqual([]);
    expect((await table.read({ filter: "year(c5) = 2024 AND c0 LIKE 'a%'" })).rows).toEqual([]);
    expect(ok(await table.diff(1))).toMatchObject({ inserted: [], updated: [], deleted: [] });
    const profile = ok(await client.GET(`${base}/tables/{name}/profile`, { params: { path: table.path } }));
    expect(profile.columns.map((column) => column.type)).toEqual(types);
    const result = ok(await client.POST(`${base}/query`, { params: { path: inBook() }, body: { sql: 'SELECT *, year(c5) FROM empty' } }));
    expect((result as unknown as { columns: { type: string }[] }).columns.map((column) => column.type)).toEqual([
      ...types,
      'BIGINT',
      'BIGINT',
    ]);
  });

  it('has a lineage that names it', async () => {
    await world.makeTable('系譜', [{ name: 'a' }]);
    const path = { ...inBook(), name: '系譜' };
    expect(JSON.stringify(ok(await world.owner.client.GET(`${base}/tables/{name}/lineage`, { params: { path } })))).toContain('系譜');
  });
});
