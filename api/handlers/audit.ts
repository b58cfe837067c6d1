import { requireWorkbook } from '../../activities/access.ts';
import { readAuditLog } from '../../activities/audit/readAuditLog.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentAuditEntry } from '../presenters/journal.ts';

export function makeAuditHandlers({ services }: ApiParts): Handlers<'listAuditLog'> {
  return {
    async listAuditLog({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const log = await readAuditLog(services, workbook.accountId, workbook.id, { cursor: query.cursor, limit: query.limit ?? 200 });
      return { status: 200, body: { entries: log.items.map(presentAuditEntry), chain_valid: log.chainValid, next_cursor: log.nextCursor } };
    },
  };
}
