import { cutPage, decodeCursor, type Page } from '../../core/paging.ts';
import { type AuditRecord, isChainValid, listAuditEntries } from '../../store/pg/audit.ts';
import type { Services } from '../../store/services.ts';

export async function readAuditLog(
  services: Services,
  scope: string,
  query: { cursor?: string; limit: number },
): Promise<Page<AuditRecord> & { chainValid: boolean }> {
  const key = decodeCursor(query.cursor, ['number']);
  const [rows, chainValid] = await Promise.all([
    listAuditEntries(services.db.orm, scope, { before: key === null ? null : (key[0] as number), limit: query.limit }),
    isChainValid(services.db, scope, services.auditPads),
  ]);
  return { ...cutPage(rows, query.limit, (entry) => [entry.seq]), chainValid };
}
