import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FileInput } from '../../activities/ingest/fileProgram/requests.ts';
import { readRows } from '../../activities/ingest/readRows.ts';
import type { OpenFile } from '../../activities/ingest/workOnFile.ts';
import { inheritEnv } from '../../store/childEnv.ts';
import { loadConfig, projectDir } from '../../store/config.ts';
import type { FileProcess } from '../../store/fileProcesses/fileProcess.ts';
import { type FileProcesses, type FileProcessOptions, openFileProcesses } from '../../store/fileProcesses/openFileProcesses.ts';
import { makeLargeFile } from '../abuse/ingest.ts';
import { isAlive, listFileProcesses } from '../setup/processTree.ts';
import { makeBook } from '../xlsx/makeWorkbook.ts';

const mib = 1024 * 1024;
let dir: string;
let small: string;
let large: string;
let opened: FileProcesses | null = null;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-files-'));
  [small, large] = [join(dir, 'small.xlsx'), join(dir, 'large.xlsx')];
  await writeFile(small, makeBook({ sheets: ['<row><c t="inlineStr"><is><t>品</t></is></c></row><row><c><v>1</v></c></row>'] }));
  await writeFile(large, makeLargeFile(60_000));
});
afterEach(async () => {
  await opened?.close();
  opened = null;
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function open(options: Partial<FileProcessOptions> = {}): Promise<FileProcesses> {
  const { searchPath } = loadConfig().machine;
  opened = await openFileProcesses({ dir, searchPath, processes: 1, memoryBytes: 1024 * mib, timeMs: 60_000, ...options });
  return opened;
}

const inputOf = async (process: FileProcess, path: string): Promise<FileInput> => ({
  path: await process.share(path),
  format: 'xlsx',
  filename: 'book.xlsx',
});
const writeRaw = async (process: FileProcess, path: string, onProgress?: () => void) =>
  process.ask({ op: 'writeRaw', input: await inputOf(process, path), rowBases: [], next: null } as { op: string }, onProgress);

it('more rows to append than a worker may hold are refused before they are written', async () => {
  const table = { name: 't', role: 'data' as const, sheet: 's', regionId: 'r1', range: 'A1:B2', rowCount: 1_000_001, index: 0 };
  const columns = ['a', 'b'].map((name) => ({ name, type: 'BIGINT' as const }));
  const refusal = { code: 'too-large', detail: 'The rows to append have 2000002 values; 2000000 are possible.' };
  await expect(readRows({} as OpenFile, [{ ...table, columns }])).rejects.toMatchObject(refusal);
});

describe('a preview', () => {
  const preview = async (process: FileProcess, sheet: string | null) =>
    process.ask({ op: 'preview', input: await inputOf(process, large), sheet, range: { top: 1, left: 1, bottom: 2, right: 2 } } as {
      op: string;
    });

  it('is JSON, and a part of the file', async () => {
    const files = await open();
    expect(JSON.parse(String(await files.use('usr_1', (process) => preview(process, null))))).toEqual({
      sheet: 'Sheet1',
      sheets: ['Sheet1'],
      range: 'A1:B2',
      values: [
        [0, 1],
        [20, 21],
      ],
      merges: [],
      column_widths: [8.43, 8.43],
      row_heights: [15, 15],
      styles: [{ align: 'right', bold: false, italic: false, fill: null, color: null, indent: 0 }],
      style_ids: [
        [0, 0],
        [0, 0],
      ],
      truncated: true,
    });
  });

  it('passes refusals on, and has its own limit of time', async () => {
    const files = await open();
    await expect(files.use('usr_1', (process) => preview(process, 'nowhere'))).rejects.toMatchObject({ code: 'not-found' });
    await expect(files.use('usr_1', (process) => preview(process, null), { timeMs: 1 })).rejects.toMatchObject({ code: 'too-large' });
  });
});

describe.each(['any', 'none'] as const)('a process that works on files, with isolation %s', (isolation) => {
  it('reads what it is given, and leaves files to take', async () => {
    const files = await open({ isolation });
    expect(files.isolation === 'none').toBe(isolation === 'none');
    const target = join(dir, `taken-${isolation}`);
    await files.use('usr_1', async (process) => {
      const [sheet] = (await writeRaw(process, small)) as { rowCount: number; layers: { key: string }[] }[];
      expect(sheet).toMatchObject({ rowCount: 2, cells: 2 });
      await process.take(sheet?.layers[0]?.key ?? '', target);
    });
    expect(await readdir(dir)).toContain(`taken-${isolation}`);
  });

  it('is used again, without what the last file left', async () => {
    const files = await open({ isolation });
    await files.use('usr_1', (process) => writeRaw(process, small));
    const [before] = listFileProcesses(globalThis.process.pid);
    await expect(
      files.use('usr_1', (process) => process.ask({ op: 'listCells', table: 0, row: 0, column: 0 } as { op: string })),
    ).rejects.toThrow();
    await files.use('usr_1', (process) => writeRaw(process, small));
    expect(before).toBeGreaterThan(0);
  });

  it('goes on with what it has read for the next step of the same work, and for no other', async () => {
    const files = await open({ isolation });
    const wanted = { sourceName: 'book', naming: 'en', choice: null, known: null, layouts: [] };
    const keep = async (process: FileProcess) =>
      process.ask({ op: 'writeRaw', input: await inputOf(process, small), rowBases: [], next: { wanted, mayBeFirst: true } } as {
        op: string;
      });
    /** The path leads nowhere: only what is in memory can be structured. */
    const structure = (process: FileProcess) =>
      process.ask({
        op: 'structure',
        input: { path: 'gone', format: 'xlsx', filename: 'book.xlsx' },
        wanted,
      } as { op: string });
    await files.use('usr_1', keep, { hold: 'job_1' });
    await expect(files.use('usr_1', structure, { resume: 'job_2' })).rejects.toThrow();
    await expect(files.use('usr_1', structure)).rejects.toThrow();
    expect(await files.use('usr_1', structure, { resume: 'job_1' })).toMatchObject({ spec: { version: expect.anything() } });
    await expect(files.use('usr_1', structure, { resume: 'job_1' })).rejects.toThrow();
  });

  it('writes raw tables of a large file beside structured ones, and has those when they are asked for', async () => {
    const files = await open({ isolation });
    type Sheets = { rowCount: number; cells: number; layers: { key: string; bytes: number }[] }[];
    const describe = (sheets: Sheets) =>
      sheets.map(({ layers, ...sheet }) => ({ ...sheet, layers: layers.map(({ key: _, ...layer }) => layer) }));
    const plain = (await files.use('usr_1', (process) => writeRaw(process, large))) as Sheets;
    const wanted = { sourceName: 'book', naming: 'en', choice: null, known: null, layouts: [] };
    const beside = await files.use(
      'usr_1',
      async (process) => {
        const next = { wanted, mayBeFirst: true };
        const sheets = await process.ask({ op: 'writeRaw', input: await inputOf(process, large), rowBases: [], next } as { op: string });
        for (const { layers } of sheets as Sheets)
          for (const { key } of layers) await process.take(key, join(dir, `beside-${isolation}-${key}`));
        return sheets as Sheets;
      },
      { hold: 'job_1' },
    );
    expect(describe(beside)).toEqual(describe(plain));
    // Files of the thread have names of their own.
    expect(beside[0]?.layers[0]?.key).toMatch(/^raw/);
    await files.use(
      'usr_1',
      async (process) => {
        const input = { path: 'gone', format: 'xlsx', filename: 'book.xlsx' };
        const { tables } = (await process.ask({ op: 'structure', input, wanted } as { op: string })) as {
          tables: { rowCount: number; columns: object[] }[];
        };
        const places = tables.map(({ columns }, i) => ({
          tableId: `tbl_${i}`,
          prefix: '',
          rowBase: 0,
          columnIds: columns.map((_, k) => k + 1),
        }));
        const written = (await process.ask({ op: 'writeTables', places } as { op: string })) as (Sheets[number] & { tableId: string })[];
        expect(written.map(({ tableId, rowCount }) => [tableId, rowCount])).toEqual(
          tables.map(({ rowCount }, i) => [`tbl_${i}`, rowCount]),
        );
        for (const { layers } of written)
          for (const { key } of layers) await process.take(key, join(dir, `structured-${isolation}-${key}`));
      },
      { resume: 'job_1' },
    );
  });

  it.each([
    ['time', { timeMs: 300 }, /seconds that one file may take/],
    ['memory', { memoryBytes: 90 * mib }, /memory/],
  ])('is killed when a file takes too much %s, which is the fault of the file', async (_, limit, detail) => {
    const files = await open({ isolation, ...limit });
    await expect(files.use('usr_1', (process) => writeRaw(process, large))).rejects.toMatchObject({
      code: 'too-large',
      detail: expect.stringMatching(detail),
    });
  });

  it('that somebody else kills is no fault of the file, and the next one has another', async () => {
    const files = await open({ isolation });
    const killed = files.use('usr_1', (process) =>
      writeRaw(process, large, () => {
        for (const pid of listFileProcesses(globalThis.process.pid)) globalThis.process.kill(pid, 'SIGKILL');
      }),
    );
    await expect(killed).rejects.toMatchObject({ name: 'ProcessGone', why: 'killed' });
    expect(await files.use('usr_1', (process) => writeRaw(process, small))).toHaveLength(1);
  });

  it('ends when its work is given up', async () => {
    const files = await open({ isolation });
    const giveUp = new AbortController();
    let pids: number[] = [];
    const given = files.use(
      'usr_1',
      (process) =>
        writeRaw(process, large, () => {
          pids = listFileProcesses(globalThis.process.pid);
          giveUp.abort();
        }),
      { signal: giveUp.signal },
    );
    await expect(given).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  it('ends with the process that started it, though it is busy', async () => {
    const parent = spawn(process.execPath, ['--import', 'tsx', join(projectDir, 'test/ingest/busyParent.ts'), dir, large, isolation], {
      cwd: projectDir,
      env: inheritEnv({ NODE_OPTIONS: undefined }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((done) => parent.stdout.once('data', done));
    const pids = listFileProcesses(parent.pid ?? 0);
    expect(pids.length).toBeGreaterThan(0);
    parent.kill('SIGKILL');
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });
});
