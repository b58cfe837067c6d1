import type { Principal } from '../../core/access/principal.ts';
import { findViolations, refuseDeletion } from '../../core/accounts/findViolations.ts';
import { DomainError } from '../../core/errors.ts';
import { accountClosed } from '../../core/journal/identityNotes.ts';
import { closeAccount as close } from '../../store/pg/closedAccounts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertJob, type JobRecord } from '../../store/pg/jobs.ts';
import { makeId } from '../../store/services.ts';
import { lockAccount } from '../billing/lockAccount.ts';
import { readOverage } from '../billing/readOverage.ts';

/**
 * Runs inside the transaction: from its commit on nobody can use the account. The job that removes what it has belongs to the
 * owner's default account, and does not wait for other jobs of the owner, some of which it ends.
 */
export async function closeAccount(tx: Tx, principal: Principal, wanted: { accountId: string; confirm: string }): Promise<JobRecord> {
  const { account } = await lockAccount(tx, wanted.accountId);
  if (account.ownerId !== principal.userId)
    throw new DomainError('not-owner', 'Only the owner of the account may delete it.', 'Ask the owner to do it.');
  const [first, ...more] = findViolations({ ...account, owed: await readOverage(tx.orm, account.id) }, wanted.confirm);
  if (first) throw refuseDeletion([first, ...more]);
  await close(tx, account.id);
  tx.note(principal.accountId, accountClosed(account));
  const id = makeId('job');
  const job = await insertJob(tx, {
    id,
    kind: 'delete_account',
    accountId: principal.accountId,
    workbookId: null,
    userId: principal.userId,
    workflowId: `delete_account-${account.id}-${id}`,
    input: { accountId: account.id },
    announce: true,
    actor: { ...tx.actor },
    createdAt: tx.at,
    admittedAt: tx.at,
  });
  return job as JobRecord;
}
