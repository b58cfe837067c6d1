import { expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { useWorkbook } from './tableDriver.ts';

const { world } = await useWorkbook();

it('annotations stand on cells, rows, columns and the table, and replace each other there', async () => {
  const table = await world.makeTable('noted', [{ name: 'a' }, { name: 'b' }]);
  ok(await table.upsert([{ a: 'x' }, { a: 'y' }]));
  const set = ok(
    await table.annotate([
      { target: { row_id: 2, column: 'B' }, note: 'cell' },
      { target: { row_id: 1 }, note: 'row' },
      { target: { column: 'a' }, note: 'column' },
      { target: {}, note: 'table' },
    ]),
  );
  expect(set.annotations.map(({ target, note }) => [target, note])).toEqual([
    [{ row_id: 2, column: 'b' }, 'cell'],
    [{ row_id: 1 }, 'row'],
    [{ column: 'a' }, 'column'],
    [{}, 'table'],
  ]);
  const styled = await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/annotations', {
    params: { path: table.path },
    body: { annotations: [{ target: { row_id: 2, column: 'b' }, style: { bold: true, background: '#FFF2CC' } }], actor: '佐藤' },
  });
  expect(ok(styled).annotations).toMatchObject([{ style: { bold: true, background: '#FFF2CC' }, note: null, actor: '佐藤' }]);
  const all = await table.annotations();
  expect(all.annotations.map(({ target }) => target)).toEqual([{}, { column: 'a' }, { row_id: 1 }, { row_id: 2, column: 'b' }]);
  // No content, no version.
  expect((await table.read()).edit_version).toBe(2);
  const first = await table.annotations({ limit: 3 });
  const second = await table.annotations({ limit: 3, cursor: first.next_cursor ?? '' });
  expect([...first.annotations, ...second.annotations]).toEqual(all.annotations);

  const gone = ok(await table.remove([2]));
  expect((await table.annotations()).annotations.length).toBe(3);
  ok(await world.undo(gone.op_id));
  expect((await table.annotations()).annotations.length).toBe(4);
  ok(await table.rename('b', 'B 列'));
  expect((await table.annotations()).annotations.at(-1)?.target).toEqual({ row_id: 2, column: 'B 列' });
  expect(ok(await table.unannotate([{ row_id: 2, column: 'b 列' }, { column: 'nothing' }, { row_id: 1, column: 'a' }, {}]))).toEqual({
    deleted: 2,
  });
  ok(await table.drop('a'));
  expect((await table.annotations()).annotations.map(({ target }) => target)).toEqual([{ row_id: 1 }]);
});

it('a target that is not there is refused, with all that is wrong, and nothing is set', async () => {
  const table = await world.makeTable('strict', [{ name: 'amount' }]);
  ok(await table.upsert([{ amount: 'x' }]));
  const problem = refused(
    await table.annotate([
      { target: { column: 'amuont' }, note: 'n' },
      { target: { row_id: 7 }, note: 'n' },
      { target: { row_id: 1 }, note: 'n' },
      { target: { row_id: 1 }, note: 'again' },
    ]),
    422,
    'validation-failed',
  );
  expect(problem.errors).toEqual([
    { pointer: '/annotations/0/target/column', detail: 'is not a column; did you mean amount?' },
    { pointer: '/annotations/1/target/row_id', detail: 'names no row of this table' },
    { pointer: '/annotations/3/target', detail: 'stands in this request already' },
  ]);
  expect((await table.annotations()).annotations).toEqual([]);
});

it('many may annotate the same targets at once, in any order', async () => {
  const columns = Array.from({ length: 60 }, (_, i) => ({ name: `c${i}` }));
  const table = await world.makeTable('crowded', columns);
  const items = columns.map(({ name }) => ({ target: { column: name }, note: 'x' }));
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => table.annotate(i % 2 === 0 ? items : items.toReversed())));
    expect(answers.map(({ response }) => response.status)).toEqual(answers.map(() => 200));
    expect(answers.map((answer) => ok(answer).annotations[0]?.target)).toEqual(
      answers.map((_, i) => ({ column: i % 2 === 0 ? 'c0' : 'c59' })),
    );
  }
});

it('a cursor beyond all columns is at the end', async () => {
  const table = await world.makeTable('beyond', [{ name: 'a' }]);
  ok(await table.annotate([{ target: { column: 'a' }, note: 'x' }]));
  const cursor = Buffer.from('[1,100000000000]').toString('base64url');
  expect(await table.annotations({ cursor })).toEqual({ annotations: [], next_cursor: null });
});
