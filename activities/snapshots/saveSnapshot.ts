import type { WriteAnswer } from '../../store/pg/commit.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { type CommittedSnapshot, checkLabel, commitSnapshot, commitVersion } from './commitSnapshot.ts';
import type { ListedVersion } from './pageSnapshots.ts';

const usualEventType = 'transform';

/** Commits the editing snapshot; retries if another commit took it meanwhile. */
export function saveSnapshot<Answer>(
  write: WriteAnswer<Answer>,
  workbook: VisibleWorkbook,
  wanted: { summary: string; eventType?: string },
  answer: (committed: CommittedSnapshot) => Answer,
): Promise<Answer> {
  const { summary, eventType = usualEventType } = wanted;
  return retryOnMove(() => write((tx) => commitSnapshot(tx, workbook, { summary, eventType }), answer));
}

/** The same with a label. */
export function saveVersion<Answer>(
  write: WriteAnswer<Answer>,
  workbook: VisibleWorkbook,
  wanted: { label: string; summary: string | null },
  answer: (saved: ListedVersion) => Answer,
): Promise<Answer> {
  const label = checkLabel(wanted.label);
  return retryOnMove(() => write((tx) => commitVersion(tx, workbook, { label, summary: wanted.summary }), answer));
}
