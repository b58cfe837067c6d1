import { expect } from 'vitest';
import type { ActivityContext } from '../../activities/activityContext.ts';
import { scopes } from '../../core/access/scopes.ts';
import { type ApiClient, ok, type Person, type TestApi } from '../setup/api.ts';
import { makeAccount, makeWorkbook, makeWorkspace, mintKey } from '../setup/credentials.ts';
import { fillTables, listCatalog, nobodysTables } from '../setup/rowsOfAccount.ts';
import { makeTable } from '../setup/tables.ts';

/** Accounts to be deleted, and looking for what is left of them. */

export const quiet: ActivityContext = { heartbeat() {} };

export interface Place {
  name: string;
  accountId: string;
  workspaceId: string;
  workbookId: string;
  key: string;
  client: ApiClient;
}

export function openDeletions(api: TestApi) {
  /** A developer account with a workspace, a workbook with a table, and a key. */
  async function makePlace(owner: Person, name: string): Promise<Place> {
    const accountId = await makeAccount(owner.client, name);
    const workspaceId = await makeWorkspace(owner.client, 'Team', accountId);
    const workbookId = await makeWorkbook(owner.client, 'Book', workspaceId);
    await makeTable(owner.client, workbookId, '表', [{ name: 'a', type: 'BIGINT' }], [{ a: 1 }, { a: 2 }]);
    const key = (await mintKey(owner.client, { account_id: accountId, scopes: [...scopes] })).text;
    return { name, accountId, workspaceId, workbookId, key, client: api.as(key) };
  }

  const askFor = (owner: Person, { accountId, name }: { accountId: string; name: string }, key?: string) =>
    owner.client.POST('/api/control/account/delete', {
      params: { header: key ? { 'Idempotency-Key': key } : {} },
      body: { account_id: accountId, confirm: name },
    });
  const readJob = async (owner: Person, id: string) =>
    ok(await owner.client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: id } } }));
  async function waitFor(owner: Person, jobId: string) {
    await expect.poll(async () => (await readJob(owner, jobId)).finished_at !== null, { timeout: 120_000 }).toBe(true);
    return readJob(owner, jobId);
  }
  /** Everything that the service keeps, by table: rows that name one of these ids. */
  async function findTraces(ids: string[]): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (const table of (await listCatalog(api.sql)).keys()) {
      if (nobodysTables.has(table)) continue;
      const { rows } = await api.sql.query<{ text: string }>(`SELECT t::text AS text FROM ${table} t WHERE t::text ~ $1`, [ids.join('|')]);
      if (rows.length > 0) found[table] = rows.map(({ text }) => text);
    }
    return found;
  }

  /** The account, and all that has an id in it. */
  async function listIds(accountId: string): Promise<string[]> {
    const ids = [accountId];
    for (const table of ['workspaces', 'workbooks', 'tables', 'credentials', 'webhooks', 'sources', 'jobs']) {
      const { rows } = await api.sql.query<{ id: string }>(`SELECT id FROM ${table} WHERE account_id = $1`, [accountId]);
      ids.push(...rows.map(({ id }) => id));
    }
    return ids;
  }

  async function listBlobs(accountId: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of api.running.services.blobs.list(accountId)) keys.push(key);
    return keys;
  }

  /** A row in every table, of which none changes by itself. */
  async function fill(accountId: string): Promise<void> {
    await fillTables(api.sql, accountId);
    await api.sql.query("UPDATE jobs SET status = 'succeeded', finished_at = now() WHERE id = $1", [`jobs_of_${accountId}`]);
    await api.sql.query("UPDATE outbox SET position = nextval('event_positions') WHERE scope = $1", [`workbooks_of_${accountId}`]);
  }

  /** Only the job and the audit log of the default account know that there was an account. */
  async function expectGone(accountId: string, ids: string[]): Promise<void> {
    const { jobs, audit_entries, ...others } = await findTraces(ids);
    expect(others).toEqual({});
    expect([jobs?.length, audit_entries?.length]).toEqual([1, 2]);
    expect(await listBlobs(accountId)).toEqual([]);
  }

  return { makePlace, askFor, readJob, waitFor, findTraces, listIds, listBlobs, fill, expectGone };
}
