import type { Principal } from '../../core/access/principal.ts';
import { reviewCredits } from '../../core/credits/priceList.ts';
import { DomainError } from '../../core/errors.ts';
import type { ReviewMode } from '../../core/jobs/reviewJobs.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { requireScopes, requireWorkbook } from '../access.ts';
import { requestPayment } from '../billing/startPayments.ts';
import { reserveCredits } from '../credits/reserveCredits.ts';
import { beginJob } from '../jobs/beginJob.ts';
import { requireNamedTable } from '../tables/requireNamedTable.ts';

export interface WantedReview {
  workbookId: string;
  /** Name of a table. Null: the whole workbook. */
  target: string | null;
  mode: ReviewMode;
  judge: boolean;
  save: boolean;
}

/** Refuses what may not be reviewed. Returns how to register the job in a transaction. */
export async function prepareReview(
  services: Services,
  principal: Principal,
  wanted: WantedReview,
): Promise<(tx: Tx) => Promise<{ job: JobRecord }>> {
  const { workbookId, target, mode, judge, save } = wanted;
  const workbook = await requireWorkbook(services, principal, workbookId, save ? 'editor' : 'viewer');
  if (save) requireScopes(principal, ['workbooks:write']);
  await refuseGovernedReview(services, workbookId);
  const at = target === null ? null : await requireNamedTable(services, principal, { workbook_id: workbookId, name: target }, 'viewer');
  return async (tx) => {
    const input = { tableId: at?.table.id ?? null, mode, judge: mode === 'lint' && judge, save };
    const job = await beginJob(tx, 'review', { workbookId, accountId: workbook.accountId }, input, mode === 'agent');
    if (mode === 'lint' && !judge) return { job: job as JobRecord };
    const amount = mode === 'agent' ? reviewCredits.agent : reviewCredits.judge;
    const unlimited = services.config.credits === 'unlimited';
    const { accountId } = workbook;
    const whenLow = () => requestPayment(services, accountId);
    const reserved = await reserveCredits(tx, { accountId, workbookId, jobId: job.id, amount, unlimited, whenLow });
    if (reserved === 'no_credits' && mode === 'agent')
      throw new DomainError(
        'out-of-credits',
        `A review by a language model needs ${amount} credits, which the account does not have.`,
        'Ask for mode=lint, which costs nothing, buy credits, or wait for the next month.',
      );
    return { job: job as JobRecord };
  };
}

/** Findings show cells and what follows from them, so a governed workbook is reviewed for nobody. */
export async function refuseGovernedReview(services: Services, workbookId: string): Promise<void> {
  if (!(await services.policies.isGoverned(workbookId))) return;
  throw new DomainError(
    'governed-workbook',
    'The workbook has column policies; what a review finds would tell of hidden cells.',
    'Read or query the tables instead; they are shown as the policies say.',
  );
}
