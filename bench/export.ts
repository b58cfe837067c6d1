import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { nodeFlags } from '../scripts/embedded/nodePart.ts';
import { findFreePort } from '../scripts/embedded/ports.ts';
import { prepareProgram } from '../store/builds/programs.mjs';
import { configToEnv, inheritEnv } from '../store/childEnv.ts';
import { acrossAccounts } from '../store/pg/accountScope.ts';
import { compareInTurn, report } from './measure.ts';
import type { BenchRig } from './services.ts';
import { TableRig } from './tableRig.ts';

const rows = 200_000;
const rounds = 3;
const most = { ratio: 0.25, megabytes: 400 };

type Value = string | number | boolean | Date;

/** The same values as the table's, ready to be written. */
function makeRow(i: number): Value[] {
  const noise = (i * 2_654_435_761) % 1_000_000;
  return [
    i * 7,
    `text ${i}`,
    (i % 100_000) / 100,
    new Date(Date.UTC(2020, 0, 1 + (i % 2000))),
    i % 2 === 0,
    i / 3,
    `支店${i % 47}`,
    i % 1000,
    new Date(Date.UTC(2024, 0, 1) + i * 1000),
    noise,
    `品目${i % 5000}`,
    noise / 10_000,
  ];
}

/** What the library's streaming writer needs for them, with a format for dates and without the reading. */
async function writeWithExcelJs(path: string): Promise<void> {
  const book = new ExcelJS.stream.xlsx.WorkbookWriter({ stream: createWriteStream(path), useStyles: true, useSharedStrings: false });
  const sheet = book.addWorksheet('sheet', { views: [{ state: 'frozen', ySplit: 1 }] });
  sheet.columns = Array.from({ length: 12 }, (_, i) => ({
    header: `c${i + 1}`,
    width: 15,
    ...(i === 3 || i === 8 ? { style: { numFmt: 'yyyy-mm-dd' } } : {}),
  }));
  for (let i = 1; i <= rows; i += 1) sheet.addRow(makeRow(i)).commit();
  sheet.commit();
  await book.commit();
}

/** An API of its own, so that peak memory is that of the exports. */
async function startApi({ config }: BenchRig): Promise<{ url: string; child: ChildProcess; stop(): Promise<void> }> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [...nodeFlags, await prepareProgram('api')], {
    env: inheritEnv({ ...configToEnv(config), PORT: String(port) }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child, 'message'), ended]);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    child,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function readPeakMb(pid: number): Promise<number> {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;
}

/** 200,000 rows × 12 as a workbook over HTTP, beside the streaming writer of exceljs in the same run. */
export async function benchExport(rig: BenchRig): Promise<void> {
  // The table is made below the requests, which would set the account.
  await acrossAccounts(() => measureExports(rig));
}

async function measureExports(rig: BenchRig): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-export-'));
  const tables = await TableRig.open(rig);
  await tables.makeTable('large', rows);
  const api = await startApi(rig);
  try {
    const peakBefore = await readPeakMb(api.child.pid ?? 0);
    const exportAs = async (format: string) => {
      const answer = await fetch(`${api.url}${tables.base}/export`, {
        method: 'POST',
        headers: { authorization: `Bearer ${rig.token}`, 'content-type': 'application/json', 'accept-encoding': 'identity' },
        body: JSON.stringify({ tables: ['large'], format, include_row_ids: false }),
      });
      if (!answer.ok) throw new Error(await answer.text());
      await answer.body?.pipeTo(new WritableStream());
    };
    const ms = await compareInTurn(
      {
        exceljs: () => writeWithExcelJs(join(folder, 'exceljs.xlsx')),
        xlsx: () => exportAs('xlsx'),
        csv: () => exportAs('csv'),
      },
      rounds,
    );
    const seconds = (each: number) => `${(each / 1000).toFixed(2)} s`;
    console.log(`  ${rows} × 12: ${seconds(ms.xlsx)} as xlsx, exceljs ${seconds(ms.exceljs)}; ${seconds(ms.csv)} as csv`);
    const ratio = ms.xlsx / ms.exceljs;
    report("xlsx over HTTP, over exceljs's streaming writer alone", `${ratio.toFixed(2)}×`, `at most ${most.ratio}×`, ratio <= most.ratio);
    const peak = await readPeakMb(api.child.pid ?? 0);
    const figure = `${peak.toFixed(0)} MB`;
    console.log(`  the API's peak before the first export: ${peakBefore.toFixed(0)} MB`);
    report('peak memory of the API', figure, `under ${most.megabytes} MB`, peak < most.megabytes);
  } finally {
    await api.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
