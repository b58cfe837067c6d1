import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { previewInProcess, usualLimits } from '../../activities/sources/previewInProcess.ts';
import type { PreviewWanted } from '../../activities/sources/readPreview.ts';
import { makeBook } from '../xlsx/makeWorkbook.ts';

let dir: string;
let wanted: PreviewWanted;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-preview-'));
  const path = join(dir, 'book');
  const row = `<row>${'<c><v>1</v></c>'.repeat(20)}</row>`;
  await writeFile(path, makeBook({ sheets: [row.repeat(20_000)] }));
  wanted = { path, format: 'xlsx', filename: 'book.xlsx', sheet: null, range: { top: 1, left: 1, bottom: 2, right: 2 } };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe('the process that reads a preview', () => {
  it('gives it as JSON', async () => {
    expect(JSON.parse(await previewInProcess(wanted))).toEqual({
      sheet: 'Sheet1',
      sheets: ['Sheet1'],
      range: 'A1:B2',
      values: [
        [1, 1],
        [1, 1],
      ],
      truncated: true,
    });
  });

  it('passes refusals on', async () => {
    await expect(previewInProcess({ ...wanted, sheet: 'nowhere' })).rejects.toMatchObject({ code: 'not-found' });
  });

  it.each([
    ['time', { timeoutMs: 1 }],
    ['heap', { heapMb: 1 }],
    ['memory', { memoryBytes: 1 }],
    ['output', { outputBytes: 1 }],
  ])('is killed when it takes too much %s', async (_, limit) => {
    const most = { ...wanted, range: { top: 1, left: 1, bottom: 5_000, right: 20 } };
    await expect(previewInProcess(most, { ...usualLimits, ...limit })).rejects.toMatchObject({ code: 'too-large' });
  });
});
