import type { Principal } from '../../core/access/principal.ts';
import type { WriteAnswer } from '../../store/pg/commit.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { refreshAllViews } from '../transforms/refreshViews.ts';
import { type CommittedSnapshot, checkLabel, commitSnapshot, commitVersion } from './commitSnapshot.ts';
import type { ListedVersion } from './pageSnapshots.ts';

const usualEventType = 'transform';

/** Commits the editing snapshot, with views as they are now; retries if another commit took it meanwhile. */
export async function saveSnapshot<Answer>(
  services: Services,
  principal: Principal,
  write: WriteAnswer<Answer>,
  workbook: VisibleWorkbook,
  wanted: { summary: string; eventType?: string },
  answer: (committed: CommittedSnapshot) => Answer,
): Promise<Answer> {
  const { summary, eventType = usualEventType } = wanted;
  await refreshAllViews(services, principal.userId, workbook.id);
  return retryOnMove(() => write((tx) => commitSnapshot(tx, workbook, { summary, eventType }), answer));
}

/** The same with a label. */
export async function saveVersion<Answer>(
  services: Services,
  principal: Principal,
  write: WriteAnswer<Answer>,
  workbook: VisibleWorkbook,
  wanted: { label: string; summary: string | null },
  answer: (saved: ListedVersion) => Answer,
): Promise<Answer> {
  const label = checkLabel(wanted.label);
  await refreshAllViews(services, principal.userId, workbook.id);
  return retryOnMove(() => write((tx) => commitVersion(tx, workbook, { label, summary: wanted.summary }), answer));
}
