import { notFound } from '../../core/errors.ts';
import { policyDeleted, policySet } from '../../core/journal/governanceNotes.ts';
import type { PolicyRule } from '../../core/policy/decideEffect.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { deletePolicies, type PolicyRecord, raisePolicyVersion, upsertPolicy } from '../../store/pg/governance.ts';

export async function setPolicy(tx: Tx, workbook: { id: string; accountId: string }, rule: PolicyRule): Promise<PolicyRecord> {
  await raisePolicyVersion(tx, workbook.id);
  const set = await upsertPolicy(tx, { workbookId: workbook.id, accountId: workbook.accountId, ...rule, actor: tx.actor.name });
  tx.note(workbook.id, policySet(rule.tag, rule.role, rule.effect));
  return set;
}

/** Removes the rule of a role, or all rules of the tag. */
export async function removePolicy(tx: Tx, workbookId: string, tag: string, role: string | null): Promise<void> {
  await raisePolicyVersion(tx, workbookId);
  if ((await deletePolicies(tx, workbookId, tag, role)) === 0)
    throw notFound('such rule in this workbook', 'GET …/policies lists the rules.');
  tx.note(workbookId, policyDeleted(tag, role));
}
