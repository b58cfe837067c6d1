import type { components } from '../../schema/contract.ts';
import type { AuditRecord } from '../../store/pg/audit.ts';

type Schemas = components['schemas'];

const kinds: Record<string, Schemas['OpCredential']['kind']> = { tok: 'access_token', key: 'account_key', ses: 'session' };

/** The id shows the kind of credential; any other id is a session of an OIDC issuer. */
export function presentCredential(id: string): Schemas['OpCredential'] {
  if (id === 'setup' || id === 'none') return { kind: 'system', id: null };
  return { kind: kinds[id.split('_')[0] ?? ''] ?? 'session', id };
}

export function presentAuditEntry(entry: AuditRecord): Schemas['AuditEntry'] {
  return {
    seq: entry.seq,
    at: entry.at.toISOString(),
    actor: entry.actor,
    user_id: entry.userId,
    credential: presentCredential(entry.credential),
    action: entry.action,
    target: entry.target,
    detail: entry.detail,
    request_id: entry.requestId,
    hash: entry.hash.toString('hex'),
  };
}
