import { makeBook } from '../xlsx/makeWorkbook.ts';

/** A file that asks more of the service than one file may, and that is small to send. */
export interface HostileFile {
  name: string;
  /** `size` scales it: 1 is what was found to stop a worker. */
  make(size?: number): Buffer;
}

/** Many sheets, each of which has a long formula that thousands of its cells share. */
const sharedFormulas: HostileFile = {
  name: 'forty sheets of shared formulas',
  make(size = 1) {
    const cells = Math.floor(8_000 * size);
    const formula = `A1${'+1'.repeat(4_000)}`;
    const first = `<row r="1"><c r="A1"><f t="shared" si="0" ref="A1:A${cells}">${formula}</f><v>1</v></c></row>`;
    const rest = Array.from({ length: cells - 1 }, (_, n) => `<row r="${n + 2}"><c r="A${n + 2}"><f t="shared" si="0"/><v>1</v></c></row>`);
    const sheet = first + rest.join('');
    return makeBook({ sheets: Array.from({ length: 40 }, () => sheet) });
  },
};

/** One formula with millions of references, shared by a few cells. */
const manyReferences: HostileFile = {
  name: 'a formula with millions of references',
  make(size = 1) {
    const formula = `B1${'+B1'.repeat(Math.floor(2_500_000 * size))}`;
    return makeBook({
      sheets: [
        `<row r="1"><c r="A1"><f t="shared" si="0" ref="A1:A3">${formula}</f><v>1</v></c></row>` +
          '<row r="2"><c r="A2"><f t="shared" si="0"/><v>1</v></c></row><row r="3"><c r="A3"><f t="shared" si="0"/><v>1</v></c></row>',
      ],
    });
  },
};

/** Brackets within brackets, for readers that follow them down. */
const deepFormula: HostileFile = {
  name: 'a formula of a million brackets',
  make(size = 1) {
    const depth = Math.floor(1_000_000 * size);
    const formula = `${'('.repeat(depth)}A2${')'.repeat(depth)}`;
    return makeBook({ sheets: [`<row r="1"><c r="A1"><f>${formula}</f><v>1</v></c></row><row r="2"><c r="A2"><v>1</v></c></row>`] });
  },
};

/** Every row sums all rows above it. */
const runningTotals: HostileFile = {
  name: 'running totals over thousands of rows',
  make(size = 1) {
    const rows = Math.floor(30_000 * size);
    const cell = (row: number) => `<c r="B${row}"><f>SUM(B$2:B${row - 1},C$2:C${row - 1})</f><v>${row}</v></c>`;
    const lines = Array.from(
      { length: rows },
      (_, n) => `<row r="${n + 3}"><c r="A${n + 3}" t="inlineStr"><is><t>科目${n}</t></is></c>${cell(n + 3)}</row>`,
    );
    const head = '<row r="1"><c r="A1" t="inlineStr"><is><t>科目</t></is></c><c r="B1" t="inlineStr"><is><t>金額</t></is></c></row>';
    return makeBook({
      sheets: [`${head}<row r="2"><c r="A2" t="inlineStr"><is><t>始</t></is></c><c r="B2"><v>1</v></c></row>${lines.join('')}`],
    });
  },
};

/** A table of long texts, and cells that point to each of them again and again. */
const longStrings: HostileFile = {
  name: 'long texts that cells repeat',
  make(size = 1) {
    // Varied enough not to be taken for a file that unpacks to too much.
    const filler = Array.from({ length: 4_000 }, (_, n) => ((n * 7_919) % 99_991).toString(36)).join(' ');
    const texts = Array.from({ length: 100 }, (_, n) => `<si><t>${`${n} `.padEnd(Math.floor(400_000 * size), filler)}</t></si>`);
    const row = (n: number) => `<row>${Array.from({ length: 20 }, (_, k) => `<c t="s"><v>${(n + k) % 100}</v></c>`).join('')}</row>`;
    return makeBook({ strings: texts.join(''), sheets: [Array.from({ length: 1_000 }, (_, n) => row(n)).join('')] });
  },
};

export const hostileFiles: HostileFile[] = [sharedFormulas, manyReferences, deepFormula, runningTotals, longStrings];

/** Millions of cells: an honest file, but work for seconds. */
export function makeLargeFile(rows: number, columns = 20): Buffer {
  const row = (n: number) => `<row>${Array.from({ length: columns }, (_, k) => `<c><v>${n * columns + k}</v></c>`).join('')}</row>`;
  return makeBook({ sheets: [Array.from({ length: rows }, (_, n) => row(n)).join('')] });
}

export interface Target {
  url: string;
  /** A session or a token of the attacker. */
  token: string;
  workbookId: string;
}

/** Uploads a file and waits for what becomes of it: the status of the answer, the code of a refusal, how it was structured. */
export async function sendFile(target: Target, filename: string, bytes: Uint8Array): Promise<Ended> {
  const headers = { Authorization: `Bearer ${target.token}` };
  const form = new FormData();
  form.set('async', 'true');
  form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), filename);
  const sent = await fetch(`${target.url}/api/v1/workbooks/${target.workbookId}/sources`, { method: 'POST', headers, body: form });
  const answer = (await sent.json()) as { job_id?: string; code?: string; detail?: string };
  if (sent.status !== 202 || !answer.job_id) return { status: sent.status, error: answer.detail ?? null, structuring: null, reason: null };
  for (;;) {
    const asked = await fetch(`${target.url}/api/v1/jobs/${answer.job_id}?wait=20`, { headers });
    const job = (await asked.json()) as JobAnswer;
    if (asked.ok && job.finished_at === null) continue;
    return {
      status: asked.status,
      jobId: answer.job_id,
      error: job.error ?? null,
      structuring: job.result?.structuring ?? null,
      reason: job.result?.source?.structuring_reason ?? null,
    };
  }
}

interface JobAnswer {
  finished_at: string | null;
  error?: string | null;
  result?: { structuring?: string; source?: { structuring_reason?: string | null } } | null;
}

export interface Ended {
  status: number;
  jobId?: string;
  error: string | null;
  structuring: string | null;
  reason: string | null;
}
