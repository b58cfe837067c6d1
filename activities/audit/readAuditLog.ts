import { cutPage, decodeCursor, type Page } from '../../core/paging.ts';
import { type AuditRecord, listAuditEntries } from '../../store/pg/audit.ts';
import type { Services } from '../../store/services.ts';
import { verifyChain } from './verifyChain.ts';

export async function readAuditLog(
  services: Services,
  accountId: string,
  scope: string,
  query: { cursor?: string; limit: number },
): Promise<Page<AuditRecord> & { chainValid: boolean }> {
  const key = decodeCursor(query.cursor, ['number']);
  const [rows, chain] = await Promise.all([
    listAuditEntries(services.db.orm, scope, { before: key === null ? null : (key[0] as number), limit: query.limit }),
    verifyChain(services, accountId, scope),
  ]);
  return { ...cutPage(rows, query.limit, (entry) => [entry.seq]), chainValid: chain !== 'broken' };
}
