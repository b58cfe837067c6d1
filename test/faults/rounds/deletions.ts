import type { Caller } from './caller.ts';
import type { Installation } from './installation.ts';
import { book, makeTable, type Story, waitForJob } from './story.ts';

/** Accounts are made, with a workspace, a key and a workbook, and deleted with all of it. */
export function deleteAccounts(caller: Caller, { ask }: Installation): Story {
  const jobs = new Map<string, string>();
  const keys = new Map<string, string>();
  let accounts = 0;
  return {
    name: 'deletions',
    async work() {
      accounts += 1;
      const name = `Account ${accounts}`;
      const accountId = String((await caller.post('/api/control/accounts', { name })).id);
      const workspace = await caller.post('/api/control/workspaces', { name, account_id: accountId });
      const minted = await caller.post('/api/control/account/keys', { name, account_id: accountId, scopes: ['workbooks:read'] });
      keys.set(accountId, String(minted.key));
      const made = await caller.post('/api/v1/workbooks', { title: name, workspace_id: workspace.id });
      await makeTable(caller, String(made.id), 't', [{ name: 'n', type: 'BIGINT' }]);
      await caller.post(`${book(String(made.id))}/tables/t/rows`, { rows: [{ n: 1 }, { n: 2 }], expected_version: null });
      const { job_id } = await caller.post('/api/control/account/delete', { account_id: accountId, confirm: name });
      jobs.set(accountId, String(job_id));
    },
    async findFaults() {
      const faults: string[] = [];
      for (const [accountId, jobId] of jobs) {
        const job = await waitForJob(caller, jobId);
        if (job.status !== 'succeeded') faults.push(`the deletion of ${accountId} is ${job.status}: ${JSON.stringify(job.error)}`);
        const left = await ask<{ id: string }>(
          'SELECT id FROM accounts WHERE id = $1 UNION ALL SELECT id FROM workbooks WHERE account_id = $1',
          [accountId],
        );
        if (left.length > 0) faults.push(`${left.map(({ id }) => id).join(', ')} of ${accountId} are left`);
        const seen = caller.unexpected.length;
        const answer = await caller.send({ method: 'GET', path: '/api/v1/me', token: keys.get(accountId) });
        caller.unexpected.length = seen;
        if (answer?.status !== 401) faults.push(`a key of ${accountId} still gets ${answer?.status}`);
      }
      return faults;
    },
    count: () => jobs.size,
  };
}
