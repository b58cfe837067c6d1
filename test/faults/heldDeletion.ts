import { expect } from 'vitest';
import { holdTables } from '../ingest/hold.ts';
import { ok } from '../setup/api.ts';
import { makeAccount, makeWorkbook, makeWorkspace } from '../setup/credentials.ts';
import { makeTable } from '../setup/tables.ts';
import type { TestStore } from '../tables/store.ts';

/** The deletion of an account that cannot remove a table: keys are revoked and files are gone, rows are half gone. */
export async function makeHeldDeletion({ owner, api }: Pick<TestStore, 'owner' | 'api'>) {
  const [name, { client }] = ['取引先', owner];
  const accountId = await makeAccount(client, name);
  const workbookId = await makeWorkbook(client, 'Book', await makeWorkspace(client, 'Team', accountId));
  await makeTable(client, workbookId, '表', [{ name: 'a', type: 'BIGINT' }], [{ a: 1 }]);
  const hold = await holdTables(api.sql, workbookId);
  const { job_id } = ok(await client.POST('/api/control/account/delete', { body: { account_id: accountId, confirm: name } }));
  return {
    ...hold,
    /** It has ended, nothing is left, and that was noted once. */
    async expectOnce(): Promise<void> {
      const readJob = async () => ok(await client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id } } }));
      await expect.poll(async () => (await readJob()).finished_at !== null, { timeout: 150_000, interval: 250 }).toBe(true);
      expect(await readJob()).toMatchObject({ status: 'succeeded' });
      for (const [table, column] of [
        ['accounts', 'id'],
        ['workspaces', 'account_id'],
        ['workbooks', 'account_id'],
        ['tables', 'account_id'],
        ['heads', 'account_id'],
        ['credit_movements', 'account_id'],
      ])
        expect([table, (await api.sql.query(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [accountId])).rowCount]).toEqual([table, 0]);
      const { rows } = await api.sql.query<{ action: string }>('SELECT action FROM audit_entries WHERE target = $1 ORDER BY seq', [
        accountId,
      ]);
      expect(rows.map(({ action }) => action)).toEqual(['account.closed', 'account.deleted']);
    },
  };
}
