import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Binary, Field, makeData, RecordBatch, Schema, Struct, Table, tableToIPC, Uint64, vectorFromArray } from 'apache-arrow';
import { afterAll, describe, expect, it } from 'vitest';
import { openArrowRecords } from '../../store/records/arrowRecords.ts';
import { recordLimits } from '../../store/records/recordFile.ts';

const folder = await mkdtemp(join(tmpdir(), 'arrow-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function readAll(path: string, limits = recordLimits) {
  const file = await openArrowRecords(path, limits);
  try {
    const rows: (string | null)[][] = [];
    for await (const batch of file.batches())
      for (let i = 0; i < batch.rows; i += 1) rows.push(batch.columns.map((column) => column[i] ?? null));
    return { columns: file.columns.map(({ name, type }) => `${name} ${type}`), rows };
  } finally {
    await file.close();
  }
}

async function keep(bytes: Uint8Array): Promise<string> {
  const path = join(folder, 'file.arrow');
  await writeFile(path, bytes);
  return path;
}

describe('openArrowRecords: files that pyarrow packed', () => {
  it.each(['lz4', 'zstd'])('by %s', async (codec) => {
    const { columns, rows } = await readAll(`${import.meta.dirname}/arrow/${codec}.feather`);
    expect(columns).toEqual(['id BIGINT', 'word VARCHAR', 'kind VARCHAR', 'price DECIMAL(10,2)', 'at TIMESTAMP', 'list JSON']);
    expect(rows.length).toBe(9000);
    const rest = ['-12.34', '2024-04-01 09:30:00.123456', '[1,null]'];
    expect([rows[0], rows[1], rows[8999]]).toEqual([
      ['0', 'text 0', 'a', ...rest],
      ['1', 'text 1', null, ...rest],
      ['8999', 'text 4', 'c', ...rest],
    ]);
  });

  it('but not beyond what a file may unpack to', async () => {
    const limits = { ...recordLimits, totalBytes: 10_000, ratioFromBytes: 10_000 };
    await expect(readAll(`${import.meta.dirname}/arrow/lz4.feather`, limits)).rejects.toMatchObject({ code: 'too-large' });
  });
});

describe('openArrowRecords: values', () => {
  it('keeps unsigned numbers of 64 bits', async () => {
    const table = new Table({ n: vectorFromArray([2n ** 64n - 1n, null], new Uint64()) });
    expect(await readAll(await keep(tableToIPC(table, 'file')))).toEqual({
      columns: ['n DECIMAL(20,0)'],
      rows: [['18446744073709551615'], [null]],
    });
  });

  it('refuses binary columns by their name', async () => {
    const schema = new Schema([new Field('photo', new Binary(), true)]);
    const data = makeData({ type: new Struct(schema.fields), length: 0, children: [vectorFromArray([], new Binary()).data[0] as never] });
    const bytes = tableToIPC(new Table([new RecordBatch(schema, data as never)]), 'stream');
    await expect(readAll(await keep(bytes))).rejects.toMatchObject({ detail: expect.stringContaining('"photo" is of the type Binary') });
  });

  it('refuses texts that lie outside of their buffer or are no UTF-8, and every shorter file', async () => {
    const bytes = Buffer.from(tableToIPC(new Table({ t: vectorFromArray(['abcd', 'efgh']) }), 'stream'));
    for (let length = 8; length < bytes.length - 8; length += 40) {
      const outcome = await readAll(await keep(bytes.subarray(0, length))).catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'validation-failed' });
      else expect((outcome as { rows: unknown[] }).rows).toEqual([]);
    }
    const at = bytes.indexOf('abcd');
    if (at > 0) {
      bytes[at] = 0xff;
      await expect(readAll(await keep(bytes))).rejects.toMatchObject({ code: 'validation-failed' });
    }
  });
});
