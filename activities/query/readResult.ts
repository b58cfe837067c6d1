import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { selectResult } from '../../store/duckdb/sandbox/resultTypes.ts';
import { findResult, type ResultRecord } from '../../store/pg/results.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';

/** A result of the caller's own user, while it lasts. */
export async function requireResult(services: Services, principal: Principal, resultId: string): Promise<ResultRecord> {
  const result = await findResult(services.db.orm, resultId);
  if (!result || result.userId !== principal.userId) throw notFound('result', 'Results belong to the user who ran the query.');
  await requireWorkbook(services, principal, result.workbookId, 'viewer');
  if (result.expiresAt <= new Date()) throw new DomainError('expired', 'The result has expired.', 'Results are kept for 24 hours; run the query again.');
  return result;
}

/** Runs `work` with a SELECT over a page of the result; its file is pinned for as long. */
export async function openResultPage(services: Services, result: ResultRecord, page: { limit: number; offset: number }): Promise<{ sql: string; release(): void }> {
  const opened = await services.blobs.open([result.blobKey]);
  return { sql: `${selectResult(opened.pathOf(result.blobKey), result.columns)} LIMIT ${page.limit} OFFSET ${page.offset}`, release: opened.release };
}
