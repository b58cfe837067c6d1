import { parseReach, reachesWorkbook } from '../../core/access/reach.ts';
import { isId } from '../../core/ids/ids.ts';
import { findAccount } from '../../store/pg/accounts.ts';
import type { WebhookRecord } from '../../store/pg/webhooks.ts';
import { findVisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';

/** Where something happened, for somebody who may know of it. */
export interface Place {
  workbookId: string | null;
  workspaceId: string | null;
}

type Hearing = Pick<WebhookRecord, 'userId' | 'accountId' | 'allAccounts' | 'resource'>;

/**
 * Whether a webhook may be told now of what happens in a workbook or account: its user sees that, and it lies within the reach
 * that the webhook was made with. Null: no.
 */
export async function mayHear(services: Services, webhook: Hearing, scope: string): Promise<Place | null> {
  const { userId, allAccounts } = webhook;
  const accountId = allAccounts ? null : webhook.accountId;
  const reach = parseReach(webhook.resource);
  if (isId(scope, 'wb')) {
    const workbook = await findVisibleWorkbook(services.db, { id: scope, userId, accountId });
    return workbook && reach && reachesWorkbook(reach, workbook) ? { workbookId: scope, workspaceId: workbook.workspaceId } : null;
  }
  const account = await findAccount(services.db.orm, scope);
  const isOwn = account?.ownerId === userId && (accountId === null || accountId === scope);
  return isOwn && reach?.kind === 'account' ? { workbookId: null, workspaceId: null } : null;
}
