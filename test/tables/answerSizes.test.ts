import { beforeAll, describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { type DrivenTable, useWorkbook } from './tableDriver.ts';

/** Answers that are made in memory have a size that they do not pass: a caller is told how to ask for less. */

const { world } = await useWorkbook();
let table: DrivenTable;
const rows = 2_000;

beforeAll(async () => {
  table = await world.makeTable('long', [{ name: 'n', type: 'BIGINT' }]);
  ok(await table.upsert(Array.from({ length: rows }, (_, n) => ({ n }))));
  // Stored once, shown in every row: 40 MB.
  ok(await table.add({ column: 't', default: 'x'.repeat(20_000) }));
});

describe('an answer of more than 16 MiB', () => {
  it('as a range is refused, and read in parts', async () => {
    expect(refused(await table.range(`A1:B${rows + 1}`), 413, 'too-large')).toMatchObject({
      detail: 'The answer would hold more than 16 MiB.',
      suggested_fix: 'Read the range in parts: fewer rows or columns at a time.',
    });
    expect(ok(await table.range('B2:B101')).values.length).toBe(100);
    expect(ok(await table.range(`A1:A${rows + 1}`)).values.length).toBe(rows + 1);
  });

  it('as a difference is refused, and listed in part', async () => {
    expect(refused(await table.diff(2, 3, rows), 413, 'too-large').suggested_fix).toContain('`limit`');
    expect(refused(await table.diff(1, 3, rows), 413, 'too-large').suggested_fix).toContain('`limit`');
    expect(refused(await table.diff(3, 1, rows), 413, 'too-large').suggested_fix).toContain('`limit`');
    const part = ok(await table.diff(2, 3, 100));
    expect([part.updated.length, part.updated_count, part.truncated]).toEqual([100, rows, true]);
    expect(ok(await table.diff(1, 2, rows)).inserted.length).toBe(rows);
  });
});

it('the history of a row of long values comes in more pages, with nothing lost', async () => {
  const heavy = await world.makeTable('heavy', [{ name: 't' }, { name: 'n', type: 'BIGINT' }]);
  const count = 20;
  ok(await heavy.upsert([{ t: 'x'.repeat(1_000_000), n: 0 }]));
  for (let n = 1; n < count; n += 1) ok(await heavy.upsert([{ __svc_row_id: 1, t: String(n % 10).repeat(1_000_000), n }]));
  const versions: number[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = ok(await heavy.history(1, { limit: 100, ...(cursor ? { cursor } : {}) }));
    versions.push(...page.changes.map(({ edit_version }) => edit_version));
    cursor = page.next_cursor ?? undefined;
    pages += 1;
  } while (cursor);
  expect(versions).toEqual(Array.from({ length: count }, (_, i) => count + 1 - i));
  expect(pages).toBeGreaterThan(1);
});
