import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import { ok, refused } from '../setup/api.ts';
import { type DrivenTable, useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();
const { client } = world.owner;
const base = '/api/v1/workbooks/{workbook_id}' as const;

type Given = Record<string, unknown>;
const upsert = ({ path }: DrivenTable, key: string[], rows: Given[], more: { expected_version?: number | null; rebase?: boolean } = {}) =>
  client.POST(`${base}/tables/{name}/rows`, { params: { path }, body: { expected_version: null, key, rows, ...more } });
const errorsOf = (answer: Parameters<typeof refused>[0]) =>
  refused(answer, 422, 'validation-failed').errors as { pointer: string; detail: string }[];
const plain = async (table: DrivenTable, query: Given = {}) => (await table.read({ limit: 10_000, ...query })).rows;

describe('upsertRows with a key', () => {
  it('updates the row that has the values and inserts where none has', async () => {
    const table = await world.makeTable('商品', [
      { name: '品番' },
      { name: '店', type: 'BIGINT' },
      { name: '数', type: 'BIGINT' },
      { name: '注' },
    ]);
    const rows = [
      { 品番: 'A', 店: 1, 数: 1, 注: 'x' },
      { 品番: 'A', 店: 2, 数: 2 },
    ];
    expect(ok(await upsert(table, ['品番', '店'], rows))).toMatchObject({ edit_version: 2, inserted: 2, updated: 0, row_ids: [1, 2] });
    const again = [
      { 品番: 'B', 店: 1, 数: 9 },
      { 品番: 'A', 店: 1, 数: 7 },
    ];
    const written = ok(await upsert(table, ['店', '品番'], again, { expected_version: 2 }));
    expect(written).toMatchObject({ edit_version: 3, inserted: 1, updated: 1, row_ids: [3, 1], stale: [] });
    expect(await plain(table)).toEqual([
      { 品番: 'A', 店: 1, 数: 7, 注: 'x', __svc_row_id: 1 },
      { 品番: 'A', 店: 2, 数: 2, 注: null, __svc_row_id: 2 },
      { 品番: 'B', 店: 1, 数: 9, 注: null, __svc_row_id: 3 },
    ]);
    expect((await world.ops({ limit: 1 })).ops[0]).toMatchObject({ kind: 'rows.upsert', undoable: true });
    ok(await world.undo(written.op_id));
    expect((await plain(table)).map((row) => row.数)).toEqual([1, 2]);
    refused(await upsert(table, ['品番', '店'], again, { expected_version: 2 }), 409, 'version-conflict');
  });

  it('compares values, not their spelling, in every type that can be a key', async () => {
    const values: [type: string, first: unknown, same: unknown, other: unknown][] = [
      ['VARCHAR', 'a ', 'a ', 'a'],
      ['BIGINT', '9007199254740993', '9007199254740993', '9007199254740992'],
      ['DOUBLE', 1e21, '1000000000000000000000', 1.5],
      ['DECIMAL(10,2)', '1.5', '1.50', '1.51'],
      ['BOOLEAN', true, 'true', false],
      ['DATE', '2024-04-01', '2024-04-01T00:00:00', '2024-04-02'],
      ['TIMESTAMP', '2024-04-01T09:30:00Z', '2024-04-01 18:30:00+09:00', '2024-04-01T09:30:00.000001'],
      ['TIME', '09:30', '09:30:00.0', '09:30:01'],
    ];
    for (const [type, first, same, other] of values) {
      const table = await world.makeTable(`種 ${type}`, [
        { name: 'k', type },
        { name: 'n', type: 'BIGINT' },
      ]);
      ok(await upsert(table, ['k'], [{ k: first, n: 1 }]));
      expect([type, ok(await upsert(table, ['K'], [{ k: same, n: 2 }])).updated]).toEqual([type, 1]);
      expect([type, ok(await upsert(table, ['k'], [{ k: other, n: 3 }])).inserted]).toEqual([type, 1]);
      expect(errorsOf(await upsert(table, ['k'], [{ k: first }, { k: same }]))).toEqual([
        { pointer: '/rows/1', detail: 'has the same key as row 0 of the request' },
      ]);
    }
  });

  it('is refused where it does not tell the rows apart, with the rows named, and nothing changes', async () => {
    const table = await world.makeTable('不定', [{ name: 'k' }, { name: 'n', type: 'BIGINT' }, { name: 'j', type: 'JSON' }]);
    ok(await table.upsert([...Array.from({ length: 7 }, (_, n) => ({ k: 'twice', n })), { k: 'once' }, { n: 1 }, { n: 2 }]));
    const cases: [key: string[], rows: Given[], errors: unknown][] = [
      [
        ['k'],
        [
          { k: 'once', n: 1 },
          { k: 'twice', n: 1 },
        ],
        [{ pointer: '/rows/1', detail: 'its key is not unique: rows 1, 2, 3, 4, 5 and 2 more of the table have it' }],
      ],
      [['k'], [{ n: 1 }], [{ pointer: '/rows/0/k', detail: 'is part of the key and must be given' }]],
      [['k'], [{ k: null, n: 1 }], [{ pointer: '/rows/0/k', detail: 'is part of the key and must not be null' }]],
      [['k'], [{ k: 'x', __svc_row_id: 1 }], [{ pointer: '/rows/0', detail: 'has a row id, which does not go together with `key`' }]],
      [['kk'], [{ k: 'x' }], [{ pointer: '/key/0', detail: expect.stringContaining('did you mean k?') }]],
      [['k', 'j'], [{ k: 'x' }], [{ pointer: '/key/1', detail: expect.stringContaining('JSON column') }]],
      [['k', 'K'], [{ k: 'x' }], [{ pointer: '/key/1', detail: 'K stands in the key already' }]],
    ];
    for (const [key, rows, errors] of cases) expect(errorsOf(await upsert(table, key, rows))).toEqual(errors);
    refused(await upsert(table, [], [{ k: 'x' }]), 422, 'validation-failed');
    expect(await table.read()).toMatchObject({ edit_version: 2, row_count: 10 });
    // Rows that share a key with nothing in the request do not matter.
    expect(ok(await upsert(table, ['k'], [{ k: 'once', n: 5 }]))).toMatchObject({ updated: 1, row_ids: [8] });
  });

  it('never makes a key twice, however many write at once', async () => {
    const table = await world.makeTable('同時', [{ name: 'k' }, { name: 'n', type: 'BIGINT' }]);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, writer) =>
        upsert(
          table,
          ['k'],
          [0, 1, 2].map((n) => ({ k: `k${(writer + n) % 5}`, n: writer })),
        ),
      ),
    );
    const done = answers.filter(({ response }) => response.ok).length;
    for (const answer of answers.filter(({ response }) => !response.ok)) refused(answer, 503, 'unavailable');
    const rows = await plain(table, { sort: ['k'] });
    expect(rows.map((row) => row.k)).toEqual(['k0', 'k1', 'k2', 'k3', 'k4'].slice(0, rows.length));
    expect([(await table.read()).edit_version, done >= 5]).toEqual([1 + done, true]);
  });

  it('is rebased where the rows that it means have not changed', async () => {
    const table = await world.makeTable('基', [{ name: 'k' }, { name: 'a' }, { name: 'b' }]);
    ok(
      await upsert(
        table,
        ['k'],
        [
          { k: 'x', a: '1' },
          { k: 'y', a: '1' },
        ],
      ),
    );
    ok(
      await upsert(
        table,
        ['k'],
        [
          { k: 'x', a: '2' },
          { k: 'z', a: '2' },
        ],
      ),
    );
    const old = { expected_version: 2, rebase: true };
    refused(await upsert(table, ['k'], [{ k: 'x', a: '3' }], old), 409, 'version-conflict');
    refused(await upsert(table, ['k'], [{ k: 'z', b: '3' }], old), 409, 'version-conflict');
    ok(
      await upsert(
        table,
        ['k'],
        [
          { k: 'x', b: '3' },
          { k: 'y', a: '3' },
          { k: 'w', a: '3' },
        ],
        old,
      ),
    );
    expect((await plain(table)).map(({ k, a, b }) => [k, a, b])).toEqual([
      ['x', '2', '3'],
      ['y', '3', null],
      ['z', '2', null],
      ['w', '3', null],
    ]);
  });

  it('does what a map from keys to rows does, over files, log and large edits', async () => {
    const anyRow = fc.record({ a: fc.constantFrom('p', 'q', 'é', ''), b: fc.integer({ min: 0, max: 400 }), n: fc.integer() });
    const anyEdit = fc.uniqueArray(anyRow, { minLength: 1, maxLength: 30, selector: ({ a, b }) => `${a}/${b}` });
    let tables = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 4, arbitrary: anyEdit }, fc.constantFrom('fold', 'many')), { minLength: 2, maxLength: 6 }),
        async (steps) => {
          tables += 1;
          const table = await world.makeTable(`写像${tables}`, [
            { name: 'a' },
            { name: 'b', type: 'BIGINT' },
            { name: 'n', type: 'BIGINT' },
          ]);
          const { id } = ok(await client.GET(`${base}/tables/{name}`, { params: { path: table.path } }));
          const known = new Map<string, number>();
          for (const step of steps) {
            if (step === 'fold') {
              await compactTable(api.services, id, { heartbeat() {} }, { ...compactionLimits, tail: 0, deltaShare: -1 });
              continue;
            }
            const rows = step === 'many' ? Array.from({ length: 1200 }, (_, n) => ({ a: 'p', b: n, n: known.size })) : step;
            ok(await upsert(table, ['a', 'b'], rows));
            for (const { a, b, n } of rows) known.set(`${a}/${b}`, n);
          }
          expect(new Map((await plain(table)).map(({ a, b, n }) => [`${a}/${b}`, n]))).toEqual(known);
          expect((await table.read({ limit: 1 })).row_count).toBe(known.size);
        },
      ),
      { numRuns: 6, examples: [[[[{ a: 'p', b: 1, n: 1 }], 'many', [{ a: 'p', b: 1, n: 2 }], 'fold', [{ a: 'p', b: 1, n: 3 }]]]] },
    );
  });
});
