import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { makeWorkbookWith, useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();

const many = (count: number) => Array.from({ length: count }, (_, i) => ({ a: `row ${i}` }));

describe('addColumn: a column that is added', () => {
  it('shows its default in an old segment and an old log entry; an explicit null later stays null', async () => {
    const table = await world.makeTable('defaults', [{ name: 'a' }]);
    const { row_ids: ids } = ok(await table.upsert(many(1200), 1));
    ok(await table.upsert([{ a: 'logged' }], 2));
    expect(ok(await table.add({ column: 'n', type: 'BIGINT', default: 7 }, 3))).toMatchObject({
      name: 'defaults',
      column: 'n',
      type: 'BIGINT',
      edit_version: 4,
      broken: [],
    });
    const [first, second] = ids as [number, number];
    ok(await table.upsert([{ __svc_row_id: second, n: null }], 4));
    ok(await table.upsert([{ a: 'new' }], 5));
    const { rows, columns } = await table.read({ limit: 2000 });
    expect(columns.map(({ name }) => name)).toEqual(['a', 'n', '__svc_row_id']);
    const byId = new Map(rows.map((row) => [row.__svc_row_id, row.n]));
    expect([byId.get(first), byId.get(second)]).toEqual([7, null]);
    expect(rows.find((row) => row.a === 'logged')?.n).toBe(7);
    expect(rows.find((row) => row.a === 'new')?.n).toBeNull();
    // Sorted and filtered reads see the default as a value like any other.
    expect((await table.read({ sort: ['n:desc'], limit: 1 })).rows[0]?.n).toBe(7);
    expect((await table.read({ at_version: 3, limit: 1 })).rows[0]).toEqual({ a: 'row 0', __svc_row_id: first });
  });

  it.each([
    ['VARCHAR', "it's", "it's"],
    ['DECIMAL(4,2)', '0.1', '0.10'],
    ['DOUBLE', 1.5, 1.5],
    ['BOOLEAN', true, true],
    ['DATE', '2024-04-01', '2024-04-01'],
    ['TIMESTAMP', '2024-04-01T09:30:00.5', '2024-04-01T09:30:00.500000'],
    ['TIME', '09:30', '09:30:00'],
    ['JSON', 'text', 'text'],
  ])('can have a default of type %s', async (type, given, shown) => {
    const table = await world.makeTable(`default ${type}`, [{ name: 'a' }]);
    ok(await table.upsert(many(1001)));
    ok(await table.upsert([{ a: 'logged' }]));
    ok(await table.add({ column: 'd', type, default: given }));
    const { rows } = await table.read({ limit: 2000 });
    expect(new Set(rows.map((row) => row.d))).toEqual(new Set([shown]));
    expect(rows.length).toBe(1002);
  });

  it('is refused for a name that is taken, reserved or blank, an unknown type, a default that does not fit', async () => {
    const table = await world.makeTable('names', [{ name: 'Amount' }]);
    refused(await table.add({ column: 'aMOUNT' }), 409, 'name-taken');
    refused(await table.add({ column: '__SVC_row_id' }), 422, 'validation-failed');
    refused(await table.add({ column: '   ' }), 422, 'validation-failed');
    refused(await table.add({ column: 'x', type: 'BLOB' }), 422, 'validation-failed');
    const problem = refused(await table.add({ column: 'x', type: 'BIGINT', default: 'many' }), 422, 'validation-failed');
    expect(problem.errors).toEqual([{ pointer: '/default', detail: 'must be a whole number' }]);
    refused(await table.add({ column: 'x' }, 7), 409, 'version-conflict');
    expect((await table.read()).edit_version).toBe(1);
  });
});

describe('alterColumn: a column that is renamed', () => {
  it('keeps its id, values and description; older versions have the older name', async () => {
    const table = await world.makeTable('renamed', [{ name: 'old' }, { name: 'b' }]);
    ok(await table.upsert([{ old: 'x' }], 1));
    ok(
      await world.owner.client.PUT('/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns/{column}/description', {
        params: { path: { ...table.path, column: 'old' } },
        body: { description: 'what it is' },
      }),
    );
    expect(ok(await table.rename('OLD', '新しい', 2))).toMatchObject({ column: '新しい', type: 'VARCHAR', edit_version: 3, broken: [] });
    expect((await table.read()).rows).toEqual([{ 新しい: 'x', b: null, __svc_row_id: 1 }]);
    expect((await table.read({ at_version: 2 })).rows).toEqual([{ old: 'x', b: null, __svc_row_id: 1 }]);
    expect((await table.columns())[0]).toMatchObject({ name: '新しい', description: 'what it is' });
    refused(await table.rename('新しい', 'B'), 409, 'name-taken');
    expect(refused(await table.rename('old', 'x'), 404, 'not-found').suggested_fix).toBeTruthy();
    expect(ok(await table.rename('b', 'B')).column).toBe('B');
    expect((await world.ops({ limit: 2 })).ops.map((op) => [op.kind, op.undoable])).toEqual([
      ['column.rename', false],
      ['column.rename', false],
    ]);
  });
});

describe('alterColumn: a column that is retyped', () => {
  it('is cast once; the version before keeps the text as it was', async () => {
    const table = await world.makeTable('retyped', [{ name: 'a' }, { name: 'n' }]);
    ok(
      await table.upsert(
        Array.from({ length: 1500 }, (_, i) => ({ a: `r${i}`, n: String(i).padStart(3, '0') })),
        1,
      ),
    );
    ok(await table.upsert([{ a: 'logged', n: '007' }], 2));
    ok(await table.annotate([{ target: { row_id: 1, column: 'n' }, note: 'look' }]));
    expect(ok(await table.retype('n', 'INTEGER', 3))).toMatchObject({ column: 'n', type: 'BIGINT', edit_version: 4 });
    const now = await table.read({ limit: 2000 });
    expect(now.columns).toEqual([
      { name: 'a', type: 'VARCHAR' },
      { name: 'n', type: 'BIGINT' },
      { name: '__svc_row_id', type: 'BIGINT' },
    ]);
    expect(now.rows.slice(0, 3).map((row) => row.n)).toEqual([0, 1, 2]);
    expect(now.rows.find((row) => row.a === 'logged')?.n).toBe(7);
    const before = await table.read({ limit: 2000, at_version: 3 });
    expect(before.rows[7]?.n).toBe('007');
    expect(before.rows.find((row) => row.a === 'logged')?.n).toBe('007');
    expect((await table.annotations()).annotations).toMatchObject([{ target: { row_id: 1, column: 'n' }, note: 'look' }]);
    ok(await table.upsert([{ __svc_row_id: 1, n: 99 }], 4));
    expect((await table.read({ limit: 1 })).rows[0]?.n).toBe(99);
    expect((await table.read({ limit: 1, at_version: 4 })).rows[0]?.n).toBe(0);
  });

  it('is refused at the first value that cannot be cast cleanly, and nothing changes', async () => {
    const table = await world.makeTable('uncastable', [{ name: 'n' }]);
    ok(await table.upsert([{ n: '1' }, { n: null }, { n: '1.5' }, { n: 'x' }]));
    const problem = refused(await table.retype('n', 'BIGINT'), 400, 'uncastable-value');
    expect(problem.detail).toContain('Row 3, column n: "1.5"');
    expect(await table.read()).toMatchObject({ edit_version: 2, columns: [{ type: 'VARCHAR' }, {}] });
    expect(ok(await table.retype('n', 'TEXT')).type).toBe('VARCHAR');
    refused(await table.retype('n', 'POINT'), 422, 'validation-failed');
  });

  it.each([
    ['VARCHAR', ['1.50', ' 2 ', null], 'DECIMAL(6,2)', ['1.50', '2.00', null]],
    ['VARCHAR', ['1.505'], 'DECIMAL(6,2)', null],
    ['VARCHAR', ['1e3', '-.5'], 'DOUBLE', [1000, -0.5]],
    ['VARCHAR', ['nan'], 'DOUBLE', null],
    [
      'VARCHAR',
      ['123456789012345', '0.10000000000000001', '1.7976931348623157e308', ' -00012.50 '],
      'DOUBLE',
      [123456789012345, 0.1, 1.7976931348623157e308, -12.5],
    ],
    ['VARCHAR', ['1234567890123456789012000', '0.3000000000000000000', '5e-324'], 'DOUBLE', null],
    ['VARCHAR', ['0.30000000000000000000', '100000000000000000000000', '5e-324'], 'DOUBLE', [0.3, 1e23, 5e-324]],
    ['VARCHAR', ['9007199254740993'], 'DOUBLE', null],
    ['VARCHAR', ['0.1234567890123456789'], 'DOUBLE', null],
    ['VARCHAR', [''], 'BIGINT', null],
    ['VARCHAR', ['2024-04-01', '2024/4/2'], 'DATE', ['2024-04-01', '2024-04-02']],
    ['VARCHAR', ['2024-04-01 10:00'], 'DATE', null],
    ['VARCHAR', ['infinity'], 'DATE', null],
    ['VARCHAR', ['1e400'], 'DOUBLE', null],
    ['VARCHAR', ['1e308', '-1.5'], 'DOUBLE', [1e308, -1.5]],
    ['VARCHAR', ['2024-04-01T09:00:00+09:00', '2024-04-01 08:30'], 'TIMESTAMP', ['2024-04-01T00:00:00', '2024-04-01T08:30:00']],
    ['VARCHAR', ['9:30', '23:59:59.5'], 'TIME', ['09:30:00', '23:59:59.500000']],
    ['VARCHAR', ['{"a": [1]}', '3'], 'JSON', [{ a: [1] }, 3]],
    ['VARCHAR', ['NaN'], 'JSON', null],
    ['VARCHAR', ['{"a":[-Infinity]}'], 'JSON', null],
    ['VARCHAR', ['[1, ]'], 'JSON', null],
    ['VARCHAR', ['"a\\u0000"'], 'JSON', null],
    ['VARCHAR', ['["NaN, ]", "\\\\u0000", "\\", inf"]'], 'JSON', [['NaN, ]', '\\u0000', '", inf']]],
    ['VARCHAR', ['1e999'], 'DOUBLE', null],
    ['VARCHAR', ['0000-12-31'], 'DATE', null],
    ['VARCHAR', ['24:00:00'], 'TIME', null],
    ['VARCHAR', ['9999-12-31T23:59:59-05:00'], 'TIMESTAMP', null],
    ['VARCHAR', ['0001-01-01T00:00:00+09:00'], 'TIMESTAMP', null],
    ['VARCHAR', ['2024-01-01T10:00:00+99:99'], 'TIMESTAMP', null],
    [
      'DOUBLE',
      [0.1, 1e20, 0.30000000000000004],
      'DECIMAL(38,17)',
      ['0.10000000000000000', '100000000000000000000.00000000000000000', '0.30000000000000004'],
    ],
    ['DOUBLE', [1.005], 'DECIMAL(6,2)', null],
    ['VARCHAR', ['true', 'False'], 'BOOLEAN', [true, false]],
    ['VARCHAR', ['maybe'], 'BOOLEAN', null],
    ['BIGINT', ['9007199254740993'], 'DOUBLE', null],
    ['BIGINT', ['9007199254740993'], 'DECIMAL(18,0)', ['9007199254740993']],
    ['BIGINT', ['9007199254740993', 5], 'VARCHAR', ['9007199254740993', '5']],
    ['BIGINT', [0, 1], 'BOOLEAN', [false, true]],
    ['BIGINT', [2], 'DATE', null],
    ['DOUBLE', [1.5], 'BIGINT', null],
    ['DOUBLE', [3, -4], 'BIGINT', [3, -4]],
    ['DOUBLE', [0.1], 'DECIMAL(4,2)', ['0.10']],
    ['DECIMAL(6,3)', ['1.230'], 'DECIMAL(6,2)', ['1.23']],
    ['DECIMAL(6,3)', ['1.234'], 'DECIMAL(6,2)', null],
    ['DECIMAL(6,3)', ['1.234'], 'DOUBLE', [1.234]],
    ['DECIMAL(6,3)', ['1.230'], 'JSON', [1.23]],
    ['DECIMAL(2,2)', ['-0.25'], 'JSON', [-0.25]],
    ['DECIMAL(2,2)', ['-0.25'], 'VARCHAR', ['-0.25']],
    ['TIMESTAMP', ['2024-04-01T00:00:00'], 'DATE', ['2024-04-01']],
    ['TIMESTAMP', ['2024-04-01T09:30:00', '0001-01-01T00:00:00.5'], 'VARCHAR', ['2024-04-01T09:30:00', '0001-01-01T00:00:00.500000']],
    ['TIMESTAMP', ['2024-04-01T09:30:00', null], 'JSON', ['2024-04-01T09:30:00', null]],
    ['TIME', ['09:30:00.5', '10:00'], 'VARCHAR', ['09:30:00.500000', '10:00:00']],
    ['TIMESTAMP', ['2024-04-01T10:00:00'], 'DATE', null],
    ['DATE', ['2024-04-01'], 'TIMESTAMP', ['2024-04-01T00:00:00']],
    ['DATE', ['2024-04-01'], 'BIGINT', null],
    ['BOOLEAN', [true, null], 'BIGINT', [1, null]],
    ['TIME', ['10:00:00'], 'TIMESTAMP', null],
    ['JSON', [{ a: 1 }], 'VARCHAR', ['{"a":1}']],
  ])('from %s %j to %s gives %j', async (from, values, to, wanted) => {
    const table = await world.makeTable(`${from} ${JSON.stringify(values)} ${to}`, [{ name: 'v', type: from }]);
    ok(await table.upsert(values.map((v) => ({ v }))));
    const answer = await table.retype('v', to);
    if (wanted === null) refused(answer, 400, 'uncastable-value');
    else {
      ok(answer);
      expect((await table.read()).rows.map((row) => row.v)).toEqual(wanted);
    }
  });

  it('to JSON is kept in the form in which rows show it, so that writing a row back changes nothing', async () => {
    const table = await world.makeTable('pretty', [{ name: 'j' }]);
    ok(await table.upsert([{ j: '{\n  "a": [1, 2]\n}' }]));
    ok(await table.retype('j', 'JSON'));
    ok(await table.upsert((await table.read()).rows));
    expect(ok(await table.diff(3)).updated).toEqual([]);
    expect(ok(await table.range('A2')).values).toEqual([['{"a":[1,2]}']]);
  });

  it('to JSON takes no deeper values than requests and results have', async () => {
    const nest = (levels: number) => `${'[1,'.repeat(levels - 1)}["[["]${']'.repeat(levels - 1)}`;
    const values = [nest(100), `[${'[{}],'.repeat(300)}1]`];
    const table = await world.makeTable('deep', [{ name: 'j' }]);
    const { row_ids: ids } = ok(await table.upsert([...values, nest(101)].map((j) => ({ j }))));
    refused(await table.retype('j', 'JSON'), 400, 'uncastable-value');
    ok(await table.remove(ids.slice(2)));
    ok(await table.retype('j', 'JSON'));
    expect((await table.read()).rows.map((row) => row.j)).toEqual(values.map((text) => JSON.parse(text)));
  });

  it('works on an empty table and after all rows are gone', async () => {
    const table = await world.makeTable('empty', [{ name: 'v' }]);
    ok(await table.retype('v', 'DATE'));
    const { row_ids: ids } = ok(await table.upsert([{ v: '2024-01-01' }]));
    ok(await table.remove(ids));
    ok(await table.retype('v', 'BIGINT'));
    ok(await table.upsert([{ v: 1 }]));
    expect((await table.read()).rows.map((row) => row.v)).toEqual([1]);
  });
});

describe('dropColumn: a column that is dropped', () => {
  it('is gone from now on, and a new one of its name has none of its values', async () => {
    const table = await world.makeTable('dropped', [{ name: 'a' }, { name: 'b' }]);
    ok(await table.upsert([{ a: 'x', b: 'y' }], 1));
    expect(ok(await table.drop('b', 2))).toMatchObject({ column: 'b', type: null, edit_version: 3 });
    expect((await table.read()).rows).toEqual([{ a: 'x', __svc_row_id: 1 }]);
    refused(await table.drop('a'), 409, 'in-use');
    refused(await table.drop('b'), 404, 'not-found');
    ok(await table.add({ column: 'b' }, 3));
    expect((await table.read()).rows).toEqual([{ a: 'x', b: null, __svc_row_id: 1 }]);
    expect((await table.read({ at_version: 2 })).rows).toEqual([{ a: 'x', b: 'y', __svc_row_id: 1 }]);
    const problem = refused(await table.upsert([{ __svc_row_id: 1, a: 'z' }], 2), 409, 'version-conflict');
    expect(problem.current_version).toBe(4);
  });
});

describe('columns after restoreSnapshot', () => {
  it('a column that was added later is gone; added again it has a new id and no old values', async () => {
    const other = await makeWorkbookWith(api);
    const table = await other.makeTable('restored', [{ name: 'a' }, { name: 'old' }]);
    ok(await table.upsert([{ a: 'x', old: 'kept' }, ...many(1200)]));
    const before = await other.snapshot();
    ok(await table.add({ column: 'n', type: 'BIGINT', default: 7 }));
    ok(await table.upsert([{ __svc_row_id: 1, n: 8 }]));
    ok(await table.drop('old'));
    await other.restore(before);
    expect((await table.read({ limit: 1 })).rows[0]).toEqual({ a: 'x', old: 'kept', __svc_row_id: 1 });
    ok(await table.add({ column: 'n', type: 'BIGINT' }));
    const { rows } = await table.read({ limit: 2000 });
    expect(new Set(rows.map((row) => row.n))).toEqual(new Set([null]));
    const ids = await api.sql.query(
      "SELECT column_id FROM table_columns c JOIN tables t ON t.id = c.table_id WHERE t.name = 'restored' AND to_version IS NULL ORDER BY position",
    );
    expect(ids.rows.map((row) => row.column_id)).toEqual([1, 2, 4]);
    expect((await table.read({ limit: 1, at_version: 4 })).rows[0]).toMatchObject({ n: 8 });
  });
});

describe('addColumn, alterColumn and dropColumn by many at once', () => {
  it('take one version each; those that insist on one get a 409', async () => {
    const table = await world.makeTable('raced', [{ name: 'a' }]);
    ok(await table.upsert([{ a: '1' }]));
    const answers = await Promise.all(Array.from({ length: 4 }, (_, i) => table.add({ column: `c${i}` }, 2)));
    expect(answers.map((answer) => answer.response.status).sort()).toEqual([201, 409, 409, 409]);
    const free = await Promise.all(Array.from({ length: 3 }, (_, i) => table.add({ column: `free${i}` })));
    expect(new Set(free.map((answer) => ok(answer).edit_version))).toEqual(new Set([4, 5, 6]));
    const { rows } = await api.sql.query(
      "SELECT column_id FROM table_columns c JOIN tables t ON t.id = c.table_id WHERE t.name = 'raced' ORDER BY 1",
    );
    expect(rows.map((row) => row.column_id)).toEqual([1, 2, 3, 4, 5]);
  });
});
