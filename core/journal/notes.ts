import type { EventNote } from './events.ts';
import type { OpKind } from './opKinds.ts';

/** All audit actions: every kind of op, and what is not an op of a workbook. */
export type AuditAction =
  | OpKind
  | 'account.closed'
  | 'account.created'
  | 'account.deleted'
  | 'billing.auto_topup_declined'
  | 'billing.auto_topup_set'
  | 'billing.card_removed'
  | 'billing.card_saved'
  | 'billing.card_shared'
  | 'billing.credits_bought'
  | 'billing.overage_billed'
  | 'billing.overage_settled'
  | 'billing.payment_declined'
  | 'billing.subscribed'
  | 'billing.subscription_ended'
  | 'billing.subscription_renewed'
  | 'billing.unsubscribed'
  | 'binding.delete'
  | 'binding.put'
  | 'chart.delete'
  | 'chart.put'
  | 'column.describe'
  | 'column.tag'
  | 'column.untag'
  | 'conflict.resolve'
  | 'credential.revoked'
  | 'file_link.follow'
  | 'file_link.track'
  | 'file_link.version'
  | 'drive.authorized'
  | 'job.cancelled'
  | 'key.minted'
  | 'key.revoked'
  | 'member.added'
  | 'member.removed'
  | 'member.role_changed'
  | 'member.roles_set'
  | 'policy.delete'
  | 'policy.set'
  | 'sheet.delete'
  | 'sheet.put'
  | 'source.analyze'
  | 'source.correct'
  | 'source.ingest'
  | 'source.materialize'
  | 'source.refuse'
  | 'source.register'
  | 'source.upgrade'
  | 'table.annotate'
  | 'table.describe'
  | 'table.unannotate'
  | 'token.minted'
  | 'token.revoked'
  | 'transform.define'
  | 'transform.delete'
  | 'upload.open'
  | 'user.created'
  | 'version.branch'
  | 'webhook.created'
  | 'webhook.deleted'
  | 'webhook.disabled'
  | 'webhook.rotated'
  | 'workbook.configured'
  | 'workbook.created'
  | 'workbook.deleted'
  | 'workspace.configured'
  | 'workspace.created'
  | 'workspace.deleted';

export interface OpNote {
  kind: OpKind;
  tableId?: string;
  tableName?: string;
  editVersion?: number;
  codeRef?: string;
}

export interface AuditNote {
  action: AuditAction;
  target: string;
  detail?: Record<string, unknown>;
}

export interface UsageNote {
  kind: 'op' | 'credits';
  amount: number;
}

/** What a change writes to the journal of one workbook or account. */
export interface Notes {
  ops?: OpNote[];
  audit?: AuditNote[];
  events?: EventNote[];
  usage?: UsageNote[];
}

/** The usage of a change that counts as one operation. */
export const oneOp: UsageNote[] = [{ kind: 'op', amount: 1 }];

/** An audit entry without op or event. */
export function audited(action: AuditAction, target: string, detail?: Record<string, unknown>): Notes {
  return { audit: [{ action, target, ...(detail ? { detail } : {}) }] };
}
