import { bare, makeXlsx } from '../../ingest/world.ts';
import type { Caller } from './caller.ts';
import { book, makeBook, query, type Story, waitForJob } from './story.ts';

const rows = 40;

/** Files are uploaded; each becomes one table, and is paid for once. */
export async function ingestFiles(caller: Caller): Promise<Story> {
  const workbookId = await makeBook(caller, 'Files');
  const jobs = new Map<string, string>();
  let files = 0;
  return {
    name: 'ingests',
    async work() {
      files += 1;
      const name = `file${files}`;
      const bytes = await makeXlsx({ S: [...bare(rows - 1), [`P9${files}`, name, files]] });
      const form = new FormData();
      form.set('async', 'true');
      form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), `${name}.xlsx`);
      const answer = await caller.insist({ method: 'POST', path: `${book(workbookId)}/sources`, form });
      jobs.set(name, String(answer.json().job_id));
    },
    async findFaults() {
      const faults: string[] = [];
      for (const [name, jobId] of jobs) {
        const job = await waitForJob(caller, jobId);
        if (job.status !== 'succeeded') faults.push(`the job of ${name} is ${job.status}: ${JSON.stringify(job.error)}`);
        else {
          const [counted] = await query(caller, workbookId, `SELECT count(*)::INT AS n, count(DISTINCT 品番)::INT AS d FROM ${name}`);
          if (counted?.n !== rows || counted.d !== rows) faults.push(`${name} has ${counted?.n} rows, ${counted?.d} different`);
        }
      }
      const { artifacts } = await caller.get(`${book(workbookId)}/artifacts?state=active&limit=1000`);
      const names = (artifacts as { name: string }[]).map(({ name }) => name);
      if (names.length !== jobs.size) faults.push(`${jobs.size} files became ${names.length} tables: ${names.join(', ')}`);
      return faults;
    },
    count: () => jobs.size,
  };
}
