import { dayOf, startOf } from '../../core/usage/days.ts';
import { describeErrorForLog } from '../../store/log.ts';
import { listDebtors } from '../../store/pg/charges.ts';
import type { Services } from '../../store/services.ts';
import { searchAttributes } from '../../store/temporal/searchAttributes.ts';
import { writeSummary } from '../../store/temporal/summary.ts';
import type { ActivityContext } from '../activityContext.ts';
import { type Walked, walkEach } from '../walkAccounts.ts';

/** Starts charging what an account has to pay, unless that is under way. */
async function startPayment(services: Services, accountId: string): Promise<void> {
  const { client } = await services.temporal();
  await client.workflow.start('payCharges', {
    workflowId: `pay-${accountId}`,
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue: services.config.temporal.taskQueue,
    args: [accountId],
    ...writeSummary('charge', accountId),
    typedSearchAttributes: searchAttributes({ kind: 'payment', account: accountId }),
  });
}

/** The same, best effort: what is due stands in the database, and is found by the clock. */
export function requestPayment(services: Services, accountId: string): void {
  startPayment(services, accountId).catch((error: unknown) =>
    services.log.warn({ accountId, ...describeErrorForLog(error) }, 'payment not started yet'),
  );
}

/** Starts charging whatever is due. */
export async function startPayments(services: Services, after: string, activity: ActivityContext): Promise<Walked> {
  const list = (from: string, limit: number) => listDebtors(services.db.pool, from, limit, startOf(dayOf(new Date())));
  return walkEach(after, activity, list, (accountId) => startPayment(services, accountId));
}
