import { rm, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Principal } from '../../core/access/principal.ts';
import { answerTooLarge, DomainError, notFound } from '../../core/errors.ts';
import type { DataFormat } from '../../store/duckdb/formats/streamRows.ts';
import { streamResultFile } from '../../store/duckdb/sandbox/streamResult.ts';
import { asArray, takeRows, writeLines } from '../../store/duckdb/sandbox/takeRows.ts';
import { listColumnsAt } from '../../store/pg/columns.ts';
import { findContent, findResult, type ResultRecord } from '../../store/pg/results.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { digestEffects } from './digestEffects.ts';

/** A result of the caller's own user, until it expires. */
export async function requireResult(services: Services, principal: Principal, resultId: string): Promise<ResultRecord> {
  const result = await findResult(services.db.orm, resultId);
  if (!result || result.userId !== principal.userId) throw notFound('result', 'Results belong to the user who ran the query.');
  const workbook = await requireWorkbook(services, principal, result.workbookId, 'viewer');
  if (result.expiresAt <= new Date())
    throw new DomainError(
      'expired',
      'The result has expired.',
      'Results are kept for 24 hours, or until newer ones need the room; run the query again.',
    );
  if (workbook.policyVersion > 0 && !(await isSeenAlike(services, principal, result)))
    throw new DomainError(
      'expired',
      'What you may see of the tables that the query read has changed since.',
      'Run the query again; the answer follows the policies as they are now.',
    );
  return result;
}

/** Whether the same columns of the tables that were read are hidden from the caller as when the query ran. */
async function isSeenAlike(services: Services, principal: Principal, { tables }: ResultRecord): Promise<boolean> {
  const now = new Map((await listTablesById(services.db.pool, [...new Set(tables.map(({ id }) => id))])).map((at) => [at.table.id, at]));
  for (const { id, edit_version, hidden = '' } of tables) {
    const at = now.get(id);
    const columns = (await listColumnsAt(services.db.orm, new Map([[id, edit_version]]))).get(id);
    if (!at || !columns) return false;
    const { effects } = await openVisibleColumns(services, principal, { table: at.table, columns });
    if (digestEffects(effects) !== hidden) return false;
  }
  return true;
}

export interface ResultPage {
  limit: number;
  offset: number;
}

async function openResult(
  services: Services,
  { id, blobKey, content, contentForm }: ResultRecord,
): Promise<{ path: string; release(): void | Promise<void> }> {
  if (blobKey !== null) {
    const { pathOf, release } = await services.blobs.open([blobKey]);
    return { path: pathOf(blobKey), release };
  }
  const path = await services.blobs.draft();
  const bytes = content ?? (await findContent(services.db.orm, id)) ?? Buffer.alloc(0);
  await writeFile(path, contentForm === 'rows' ? writeLines(bytes) : bytes);
  return { path, release: () => rm(path, { force: true }) };
}

const mostBytes = 256 * 1024 * 1024;

/** What a page may hold. */
export const resultPageLimit = {
  bytes: mostBytes,
  refuse: () => answerTooLarge(mostBytes, 'Ask for fewer rows with `limit`, or select fewer columns.'),
};

/** A page as a stream in one of the formats. */
export async function streamResult(services: Services, result: ResultRecord, page: ResultPage, format: DataFormat): Promise<Readable> {
  if (result.contentForm === 'rows' && (format === 'json' || format === 'ndjson')) {
    const all = result.content ?? (await services.resultRows.read(result.id)) ?? Buffer.alloc(0);
    const rows = takeRows(all, page.offset, page.limit);
    return Readable.from([format === 'json' ? asArray(rows) : writeLines(rows)], { objectMode: false });
  }
  const within = { offset: page.offset, limit: Math.min(page.limit, Math.max(0, result.rowCount - page.offset)), most: resultPageLimit };
  return streamResultFile(services, result.columns, () => openResult(services, result), format, { ...within, form: result.contentForm });
}

/** The file of a result goes when newer ones need its room, also while it is read. */
export async function explainLostResult(services: Services, { blobKey }: ResultRecord, error: unknown): Promise<unknown> {
  if (error instanceof DomainError || blobKey === null || (await services.blobs.exists(blobKey))) return error;
  return new DomainError(
    'unavailable',
    'Newer results of this account took the room of this one while it was read.',
    'Run the query again when the others have ended, or select fewer rows or columns.',
    { cause: error, headers: { 'Retry-After': '2' } },
  );
}
