import type { Caller } from './caller.ts';
import type { Installation } from './installation.ts';
import { book } from './story.ts';

/** What must hold whatever was done: each statement finds what breaks it. */
const statements: [broken: string, sql: string][] = [
  ['an audit chain has a gap', 'SELECT scope AS what FROM audit_entries GROUP BY scope HAVING count(*) <> max(seq)'],
  [
    'the credits of an account do not add up',
    'SELECT account_id AS what FROM credit_entries GROUP BY account_id, source, ends HAVING sum(amount) <> 0',
  ],
  [
    'credits were spent twice for one job',
    "SELECT ref AS what FROM credit_movements WHERE kind = 'settle' GROUP BY account_id, ref HAVING count(*) > 1",
  ],
  ['a job that ended has drafts', 'SELECT j.id AS what FROM job_drafts d JOIN jobs j ON j.id = d.job_id WHERE j.finished_at IS NOT NULL'],
  ['a workbook has no head', 'SELECT b.id AS what FROM workbooks b LEFT JOIN heads h ON h.scope = b.id WHERE h.scope IS NULL'],
];

/** What is wrong in the books of the service, at any moment. */
export async function findBrokenBooks({ ask }: Installation): Promise<string[]> {
  const faults: string[] = [];
  for (const [broken, sql] of statements) for (const { what } of await ask<{ what: string }>(sql)) faults.push(`${broken}: ${what}`);
  return faults;
}

/** When everything has come to rest: every job has ended, every table can be read, every chain is whole. */
export async function findUnfinished({ ask }: Installation, caller: Caller): Promise<string[]> {
  const faults: string[] = [];
  for (const untilMs = Date.now() + 240_000; ; await new Promise((done) => setTimeout(done, 500))) {
    const open = await ask<{ id: string; kind: string; status: string }>('SELECT id, kind, status FROM jobs WHERE finished_at IS NULL');
    if (open.length === 0) break;
    if (Date.now() < untilMs) continue;
    faults.push(...open.map(({ id, kind, status }) => `${kind} ${id} has not ended: ${status}`));
    break;
  }
  const held = await ask<{ what: string }>(
    "SELECT account_id AS what FROM credit_entries WHERE bucket = 'reserved' GROUP BY account_id HAVING sum(amount) <> 0",
  );
  faults.push(...held.map(({ what }) => `credits of ${what} are still reserved`));
  const tables = await ask<{ workbook_id: string; name: string }>(
    `SELECT t.workbook_id, t.name FROM tables t JOIN workbooks b ON b.id = t.workbook_id
     WHERE b.deleted_at IS NULL AND t.deleted_at IS NULL AND t.state = 'active'`,
  );
  for (const { workbook_id, name } of tables) {
    const answer = await caller.send({ method: 'GET', path: `${book(workbook_id)}/tables/${encodeURIComponent(name)}/rows?limit=1` });
    if (answer?.status !== 200) faults.push(`table ${name} cannot be read: ${answer?.status}`);
  }
  for (const workbookId of new Set(tables.map(({ workbook_id }) => workbook_id))) {
    const log = await caller.get(`${book(workbookId)}/audit-log?limit=1`);
    if (log.chain_valid !== true) faults.push(`the audit chain of ${workbookId} is broken`);
  }
  return faults;
}
