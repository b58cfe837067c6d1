import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { driveTable, useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();

const oddNames = [
  `"quoted" 'name'`,
  'a/b',
  'a\\b',
  '...',
  '%2F',
  'a?b#c&d=e',
  '📊 売上 😀',
  '長'.repeat(200),
  'select',
  'ORDER BY',
  'table; DROP TABLE tables; --',
  '{name}',
  '$1',
  '__proto__',
  'constructor',
  'c1',
  'a,b:desc',
  'ünï côdé ﷽',
  '~1~0',
  'id',
  'rowid',
];

describe('createTable: odd names', () => {
  it.each(oddNames)('%j is a table and a column like any other', async (name) => {
    const table = await world.makeTable(name, [{ name }, { name: 'n', type: 'BIGINT' }]);
    ok(await table.upsert([{ [name]: 'x', n: 1 }]));
    ok(await table.upsert(Array.from({ length: 1001 }, (_, n) => ({ [name]: `v${n}`, n }))));
    const edit = ok(await table.upsert([{ __svc_row_id: 1, [name]: 'y' }]));
    expect((await table.read({ limit: 1 })).rows[0]?.[name]).toBe('y');
    expect((await table.read({ limit: 1, columns: [name], sort: [name] })).rows[0]?.[name]).toBe('v0');
    expect((await table.read({ filter: 'n = 1000', columns: [name] })).rows).toEqual([{ [name]: 'v1000', __svc_row_id: 1002 }]);
    expect((await table.columns()).map((column) => column.name)).toEqual([name, 'n', '__svc_row_id']);
    expect(ok(await table.range('A1:A2')).values).toEqual([[name], ['y']]);
    expect(ok(await table.history(1)).changes[0]?.cells).toEqual([{ column: name, old: 'x', new: 'y' }]);
    expect(ok(await table.diff(3)).updated).toEqual([{ row_id: 1, cells: [{ column: name, old: 'x', new: 'y' }] }]);
    expect(ok(await table.diff(1, 2)).inserted).toEqual([{ [name]: 'x', n: 1, __svc_row_id: 1 }]);
    expect(ok(await table.diff(2, 1)).deleted).toEqual([{ [name]: 'x', n: 1, __svc_row_id: 1 }]);
    ok(await table.annotate([{ target: { column: name, row_id: 1 }, note: 'odd' }]));
    ok(await world.undo(edit.op_id));
    refused(await table.retype(name, 'JSON'), 400, 'uncastable-value');
    expect(ok(await table.rename(name, 'plain')).column).toBe('plain');
    ok(await table.rename('plain', name));
    ok(await table.drop('n'));
    expect((await table.read({ limit: 1 })).rows[0]).toEqual({ [name]: 'x', __svc_row_id: 1 });
    refused(await table.upsert([{ [name]: {} }]), 422, 'validation-failed');
    refused(await table.drop(name), 409, 'in-use');
  });

  it('blank, too long and duplicate ones are refused', async () => {
    const make = (name: string, columns: { name: string }[]) =>
      world.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables', {
        params: { path: { workbook_id: world.workbookId } },
        body: { name, columns },
      });
    refused(await make('', [{ name: 'a' }]), 422, 'validation-failed');
    refused(await make(' ', [{ name: 'a' }]), 422, 'validation-failed');
    refused(await make('..', [{ name: 'a' }]), 422, 'validation-failed');
    refused(await make('tbl_01JXQ2V7M0Z8K4T5R6W9A1B2C3', [{ name: 'a' }]), 422, 'validation-failed');
    refused(await make('t', [{ name: '.' }]), 422, 'validation-failed');
    refused(await make('x'.repeat(201), [{ name: 'a' }]), 422, 'validation-failed');
    refused(await make('t', [{ name: 'x'.repeat(201) }]), 422, 'validation-failed');
    refused(await make('t', [{ name: 'é' }, { name: 'É' }]), 422, 'validation-failed');
    refused(await make('t', []), 422, 'validation-failed');
    refused(await make('SELECT', [{ name: 'a' }]), 409, 'name-taken');
  });
});

describe('tables that are not there', () => {
  it('is 404 for a table, with the nearest name, from every operation', async () => {
    await world.makeTable('売上明細', [{ name: '得意先名' }]);
    const missing = driveTable(world.owner, world.workbookId, '売上明紬');
    const answers = [
      await missing.upsert([{ a: 1 }]),
      await missing.remove([1]),
      await missing.add({ column: 'x' }),
      await missing.rename('a', 'b'),
      await missing.retype('a', 'BIGINT'),
      await missing.drop('a'),
      await missing.range('A1'),
      await missing.write('A2', [['x']]),
      await missing.history(1),
      await missing.diff(1),
      await missing.annotate([{ target: {} }]),
      await missing.unannotate([{}]),
    ];
    for (const answer of answers) expect(refused(answer, 404, 'not-found').suggested_fix).toContain('売上明細');
  });

  it('is 422 for a column in a body, 404 in a path, each with the nearest name', async () => {
    const table = await world.makeTable('columns', [{ name: '得意先名' }, { name: 'amount', type: 'BIGINT' }]);
    const problem = refused(await table.upsert([{ 得意先: 'x', amuont: 1 }, { 'a/b~c': 1 }]), 422, 'validation-failed');
    expect(problem.errors).toEqual([
      { pointer: '/rows/0/得意先', detail: 'is not a column; did you mean 得意先名?' },
      { pointer: '/rows/0/amuont', detail: 'is not a column; did you mean amount?' },
      { pointer: '/rows/1/a~1b~0c', detail: 'is not a column of this table' },
    ]);
    for (const answer of [await table.rename('amout', 'x'), await table.retype('amout', 'DOUBLE'), await table.drop('amout')])
      expect(refused(answer, 404, 'not-found').suggested_fix).toContain('amount');
    refused(await table.drop('__svc_row_id'), 404, 'not-found');
    const described = await world.owner.client.PUT('/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns/{column}/description', {
      params: { path: { ...table.path, column: 'amout' } },
      body: { description: 'x' },
    });
    expect(refused(described, 404, 'not-found').suggested_fix).toContain('amount');
  });

  it.each([
    ['99', 404],
    ...['0', '-1', 'x', '1.5', '9007199254740993', '9'.repeat(30), '1 OR 1=1', '١'].map((number) => [number, 422] as const),
  ] as const)('a row or an op by the number %s is %d', async (number, status) => {
    const at = `/api/v1/workbooks/${world.workbookId}`;
    const { session: token } = world.owner;
    for (const answer of [
      await api.fetch(`${at}/tables/columns/rows/${encodeURIComponent(number)}/history`, { token }),
      await api.fetch(`${at}/tables/columns/rows/${encodeURIComponent(number)}/lineage`, { token }),
      await api.fetch(`${at}/ops/${encodeURIComponent(number === '99' ? '99999' : number)}/undo`, { token, method: 'POST' }),
    ])
      expect([answer.url, answer.status]).toEqual([answer.url, status]);
  });

  it('is not there twice either: a column under two spellings is refused', async () => {
    const table = await world.makeTable('spelt', [{ name: 'Amount', type: 'BIGINT' }, { name: 'b' }]);
    ok(await table.add({ column: 'c', default: 'd' }));
    const problem = refused(await table.upsert([{ amount: 1 }, { AMOUNT: 1, amount: 2, b: 'x' }]), 422, 'validation-failed');
    expect(problem.errors).toMatchObject([{ pointer: '/rows/1/amount' }]);
    expect((await table.read()).rows).toEqual([]);
    // A name that has nothing in common with the one given is no help.
    expect(refused(await table.upsert([{ 日: 1 }]), 422, 'validation-failed').errors).toEqual([
      { pointer: '/rows/0/日', detail: 'is not a column of this table' },
    ]);
  });
});

describe('readRows: a filter that is no expression over the table', () => {
  it.each([
    ['amout > 1', 'query-failed', /^There is no column "amout"; did you mean "amount" or "name"\? \(line 1, column 1\)$/],
    ['amount > 1\n  AND amout > 1', 'query-failed', /^There is no column "amout".* \(line 2, column 7\)$/],
    ['true) OR (true', 'query-failed', /^The filter is not one expression: it goes wrong at "\)" \(line 1, column 5\)$/],
    ['WHERE amount > 1', 'query-failed', /^The filter is not one expression: it goes wrong at "WHERE" \(line 1, column 1\)$/],
    ['amount > 1 ORDER BY name', 'query-failed', /goes wrong at "ORDER" \(line 1, column 12\)$/],
    ['amount = 1; SELECT 1', 'query-failed', /goes wrong at ";" \(line 1, column 11\)$/],
    ['amount >', 'query-failed', /^The filter ends too early, or is more than one expression\.$/],
    ['amount THEN 2', 'query-failed', /^The filter ends too early, or is more than one expression\.$/],
    ['amount THEN true WHEN false', 'query-failed', /^The filter is not one expression: it goes wrong at "THEN" \(line 1, column 8\)$/],
    ['  ', 'query-failed', /^The filter ends too early, or/],
    ['amount > 1e400', 'query-failed', /beyond DOUBLE/],
    ['/* amount', 'query-failed', /^unterminated \/\* comment \(line 1, column 1\)$/],
    ["name = 'x", 'query-failed', /^unterminated quoted string \(line 1, column 8\)$/],
    ['amount > $1', 'query-refused', /no parameters/],
    ['sum(amount) > 1', 'query-failed', /^A filter cannot contain aggregates \(line 1, column 1\)$/],
    ['row_number() OVER () = 1', 'query-failed', /^A filter cannot contain window functions \(line 1, column 1\)$/],
    ['*', 'query-failed', /^A filter cannot contain \*$/],
    ['t.amount > 1', 'query-failed', /^There is no table "t" in a filter; name its columns alone \(line 1, column 1\)$/],
    [
      'name + 1 > 2',
      'query-failed',
      /^There is no \+\(VARCHAR, INTEGER_LITERAL\)\. You might need to add explicit type casts\. \(line 1, column 6\)$/,
    ],
    ["read_text('/etc/passwd') IS NULL", 'query-refused', /read_text.*\(line 1, column 1\)$/],
    ['name', 'query-failed', /Could not convert string 'x' to BOOL/],
  ])('%j is refused in the words of the filter', async (filter, slug, detail) => {
    const problem = refused(await readFiltered(filter), 400, slug);
    expect(problem.errors).toEqual([{ pointer: '/query/filter', detail: expect.stringMatching(detail) }]);
    expect(problem.suggested_fix).toContain('boolean expression');
    expect(JSON.stringify(problem)).not.toMatch(/FROM clause|WHERE clause|CASE/);
  });

  const readFiltered = (filter: string) =>
    world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
      params: { path: { workbook_id: world.workbookId, name: 'filtered here' }, query: { filter } },
    });

  beforeAll(async () => {
    const table = await world.makeTable('filtered here', [{ name: 'name' }, { name: 'amount', type: 'BIGINT' }]);
    ok(await table.upsert([{ name: 'x', amount: 1 }]));
  });
});

describe('upsertRows: values that do not fit', () => {
  it('are refused with a pointer for each cell, and nothing is changed', async () => {
    const table = await world.makeTable('typed', [
      { name: 'i', type: 'BIGINT' },
      { name: 'd', type: 'DECIMAL(5,2)' },
      { name: 'b', type: 'BOOLEAN' },
      { name: 't', type: 'DATE' },
      { name: 's' },
    ]);
    const problem = refused(
      await table.upsert([
        { i: 1.5, d: '1.234', b: 'maybe', t: '2024-02-30', s: ['x'] },
        { i: 2 ** 53, d: '12345' },
        { i: 1, d: '1.23' },
      ]),
      422,
      'validation-failed',
    );
    expect((problem.errors as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
      '/rows/0/i',
      '/rows/0/d',
      '/rows/0/b',
      '/rows/0/t',
      '/rows/0/s',
      '/rows/1/i',
      '/rows/1/d',
    ]);
    refused(await table.upsert([{ s: 'a\u0000b' }]), 422, 'validation-failed');
    refused(await table.upsert([{ s: '\ud800' }]), 422, 'validation-failed');
    expect(await table.read()).toMatchObject({ edit_version: 1, row_count: 0 });
  });

  it('10,001 rows, none, rows that are not there, one row twice', async () => {
    const table = await world.makeTable('counted', [{ name: 'n', type: 'BIGINT' }]);
    refused(await table.upsert(Array.from({ length: 10_001 }, (_, n) => ({ n }))), 422, 'validation-failed');
    refused(await table.upsert([]), 422, 'validation-failed');
    refused(await table.remove(Array.from({ length: 10_001 }, (_, n) => n + 1)), 422, 'validation-failed');
    refused(await table.upsert([{ __svc_row_id: 5, n: 1 }]), 422, 'validation-failed');
    refused(await table.upsert([{ __svc_row_id: -1, n: 1 }]), 422, 'validation-failed');
    ok(await table.upsert([{ n: 1 }]));
    refused(
      await table.upsert([
        { __svc_row_id: 1, n: 2 },
        { __svc_row_id: 1, n: 3 },
      ]),
      422,
      'validation-failed',
    );
    refused(
      await table.write(
        'A2',
        Array.from({ length: 1001 }, (_, n) => [n]),
      ),
      422,
      'validation-failed',
    );
    expect((await table.read()).rows).toEqual([{ n: 1, __svc_row_id: 1 }]);
  });
});

it('one column twice in a row, ids that are none and numbers that would be rounded are refused, each with its place', async () => {
  const table = await world.makeTable('twice', [
    { name: 'n', type: 'BIGINT' },
    { name: 'd', type: 'DECIMAL(30,20)' },
  ]);
  const send = async (rows: string) => {
    const answer = await api.fetch(`/api/v1/workbooks/${world.workbookId}/tables/twice/rows`, {
      method: 'POST',
      token: world.owner.session,
      headers: { 'content-type': 'application/json' },
      body: `{"expected_version":1,"rows":${rows}}`,
    });
    return {
      status: answer.status,
      pointers: ((await answer.json()) as { errors?: { pointer: string }[] }).errors?.map(({ pointer }) => pointer),
    };
  };
  for (const [rows, pointer] of [
    ['[{"n":1,"n":2}]', '/rows/0/n'],
    ['[{"n":1},{"n":1,"N":2}]', '/rows/1/N'],
    ['[{"__svc_row_id":1,"__svc_row_id":2,"n":1}]', '/rows/0/__svc_row_id'],
    ['[{"__svc_row_id":null,"n":1}]', '/rows/0/__svc_row_id'],
    ['[{"__svc_row_id":"1","n":1}]', '/rows/0/__svc_row_id'],
    ['[{"__svc_row_id":1.5,"n":1}]', '/rows/0/__svc_row_id'],
    ['[{"n":9007199254740993}]', '/rows/0/n'],
    ['[{"d":0.10000000000000000001}]', '/rows/0/d'],
    ['[{"n":1},{"m":1}]', '/rows/1/m'],
  ] as const)
    expect(await send(rows), rows).toEqual({ status: 422, pointers: [pointer] });
  expect(await table.read()).toMatchObject({ edit_version: 1, row_count: 0 });
});

it('a body without expected_version, with both or neither change, or with unknown fields is refused', async () => {
  const table = await world.makeTable('bodies', [{ name: 'a' }]);
  const path = `/api/v1/workbooks/${world.workbookId}/artifacts/bodies/columns/a`;
  const patch = (body: unknown) =>
    api.fetch(path, {
      method: 'PATCH',
      token: world.owner.session,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const body of [
    { new_name: 'b' },
    { expected_version: null },
    { expected_version: null, new_name: 'b', type: 'BIGINT' },
    { expected_version: null, new_name: null },
    { expected_version: null, new_name: 'b', extra: 1 },
    { expected_version: '1', new_name: 'b' },
    { expected_version: null, type: '' },
  ])
    expect([body, (await patch(body)).status]).toEqual([body, 422]);
  for (const body of [{ expected_version: null }, { expected_version: null, new_name: 'b', type: 'BIGINT' }])
    expect(await (await patch(body)).json()).toMatchObject({
      errors: [{ pointer: '', detail: 'must have exactly one of new_name, type' }],
    });
  expect((await api.fetch(path, { method: 'DELETE', token: world.owner.session })).status).toBe(422);
  expect((await table.read()).edit_version).toBe(1);
});

it('a version that never was, a direction that is none and a number that no op has are explained', async () => {
  const table = await world.makeTable('never', [{ name: 'a' }]);
  expect(refused(await table.upsert([{ a: 'x' }], 99), 409, 'version-conflict')).toMatchObject({
    changed: [],
    suggested_fix: expect.stringContaining('never had that version'),
  });
  const sorted = await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
    params: { path: table.path, query: { sort: ['a:up'] } },
  });
  expect(refused(sorted, 422, 'validation-failed').suggested_fix).toContain('sort=column:desc');
  const ops = await api.fetch(`/api/v1/workbooks/${world.workbookId}/ops?before=99999999999999999999`, { token: world.owner.session });
  expect(ops.status).toBe(422);
});

it('an address that is not in UTF-8 is refused as such, in the query and as plain bytes', async () => {
  const rows = `/api/v1/workbooks/${world.workbookId}/tables/none/rows`;
  for (const query of ['columns=%95%69%96%da', 'filter=%ff']) {
    const answer = await api.fetch(`${rows}?${query}`, { token: world.owner.session });
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { errors: [{ pointer: '/query', detail: expect.stringContaining('UTF-8') }] },
    ]);
  }
  const { port } = new URL(api.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.end(`GET /api/v1/workbooks/${world.workbookId}/tables/売上 HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect(await text(socket)).toContain('The address is not properly percent-encoded.');
  // A percent sign alone is what it is.
  expect((await api.fetch(`${rows}?filter=a%20LIKE%20'%'`, { token: world.owner.session })).status).toBe(404);
});

it('an actor of blanks is nobody: the user is written down', async () => {
  const table = await world.makeTable('blank actor', [{ name: 'a' }]);
  const edit = await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
    params: { path: table.path },
    body: { expected_version: 1, rows: [{ a: 'x' }], actor: '  ' },
  });
  ok(edit);
  expect((await world.ops({ limit: 1 })).ops[0]?.actor).toMatch(/\S/);
});

describe('upsertRows: a number with more digits than a double has', () => {
  const long = '1234567890.00000000001';
  const send = async (method: string, path: string, body: string) => {
    const response = await api.fetch(`/api/v1/workbooks/${world.workbookId}/${path}`, {
      token: world.owner.session,
      method,
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    return { status: response.status, body: (await response.json()) as { errors?: { pointer: string; detail: string }[] } };
  };

  beforeAll(async () => {
    await world.makeTable('digits', [
      { name: 'd', type: 'DECIMAL(38,20)' },
      { name: 'j', type: 'JSON' },
    ]);
  });

  it.each([
    // A backslash behind the rows sends them another way.
    ['POST', 'tables/digits/rows', `{"expected_version":null,"rows":[{"d":${long}}],"actor":"CORP\\\\sato"}`, '/rows/0/d'],
    ['POST', 'tables/digits/rows', `{"expected_version":null,"rows":[{"j":{"x":[${long}]}}]}`, '/rows/0/j'],
    ['PUT', 'tables/digits/range', `{"expected_version":null,"range":"A2","values":[[${long}]]}`, '/values/0/0'],
    ['PUT', 'tables/digits/range', `{"expected_version":null,"range":"B2","values":[["{\\"x\\":${long}}"]]}`, '/values/0/0'],
    ['POST', 'artifacts/digits/columns', `{"expected_version":null,"column":"n","type":"DECIMAL(38,20)","default":${long}}`, '/default'],
    ['POST', 'query', `{"sql":"SELECT $1","params":[${long}]}`, '/params/0'],
  ])('is refused where digits would go: %s %s %s', async (method, path, body, pointer) => {
    const answer = await send(method, path, body);
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer, detail: expect.stringContaining('as a string') }] } });
    expect((await driveTable(world.owner, world.workbookId, 'digits').read()).edit_version).toBe(1);
  });

  it('is a double where the column is one', async () => {
    const table = await world.makeTable('doubles', [{ name: 'f', type: 'DOUBLE' }]);
    expect(await send('PUT', 'tables/doubles/range', `{"expected_version":null,"range":"A2","values":[[${long}]]}`)).toMatchObject({
      status: 200,
    });
    expect((await table.read()).rows).toEqual([{ f: 1234567890, __svc_row_id: 1 }]);
  });
});
