import { decodeCursor, type Page, pageOf } from '../../core/paging.ts';
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
  const before = key === null ? null : (key[0] as number);
  const [page, chain] = await Promise.all([
    pageOf(
      query.limit,
      (limit) => listAuditEntries(services.db.orm, scope, { before, limit }),
      (entry) => [entry.seq],
    ),
    verifyChain(services, accountId, scope),
  ]);
  return { ...page, chainValid: chain !== 'broken' };
}
