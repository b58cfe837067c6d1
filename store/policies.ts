import type { Principal } from '../core/access/principal.ts';
import { atLeast, effectiveRoles } from '../core/access/roles.ts';
import { notFound } from '../core/errors.ts';
import { type Asker, decideEffect, indexRules, type Rules } from '../core/policy/decideEffect.ts';
import type { ColumnRecord, TableRecord } from '../core/table/table.ts';
import type { ColumnEffect } from '../core/table/visibleTable.ts';
import type { Database } from './pg/database.ts';
import { findTableGovernance, listGoverned } from './pg/governance.ts';
import { findVisibleWorkbook, type VisibleWorkbook } from './pg/workbooks.ts';

/** What decides about the columns of a table. */
export interface Governance {
  policyVersion: number;
  /** Tags by column id. */
  tags: ReadonlyMap<number, readonly string[]>;
  rules: Rules;
}

type Governed = Pick<TableRecord, 'id' | 'workbookId' | 'policyVersion'>;

export interface Policies {
  /** Effects of the policies on a table's columns for a principal, by column id. Only `openVisibleTable` calls it. */
  columnEffects(principal: Principal, of: { table: Governed; columns: ColumnRecord[] }): Promise<ReadonlyMap<number, ColumnEffect>>;
  /** Tags of a table and the rules that apply to them. */
  read(table: Governed): Promise<Governance>;
  /** Whether any column policy exists in the workbook. */
  isGoverned(workbookId: string): Promise<boolean>;
}

const noEffects: ReadonlyMap<number, ColumnEffect> = new Map();
const ungoverned: Governance = { policyVersion: 0, tags: new Map(), rules: new Map() };

const mostTables = 2_000;
/** Tables with more tags are read each time. */
const mostTags = 5_000;

/** The roles of a workbook's member, with what else decides about what they see. */
export function askerIn(workbook: Pick<VisibleWorkbook, 'role' | 'customRoles'>, principal: Pick<Principal, 'scopes'>): Asker {
  return {
    roles: effectiveRoles(workbook.role, workbook.customRoles),
    // A session has every scope, also that of somebody who may only read.
    mayConfigure: principal.scopes.includes('governance:configure') && atLeast(workbook.role, 'editor'),
  };
}

export function openPolicies(db: Database): Policies {
  /** By table id, the last used ones. An entry holds for the policy version that it was read at. */
  const known = new Map<string, Governance>();

  const read = async (table: Governed): Promise<Governance> => {
    if (table.policyVersion === 0) return ungoverned;
    const kept = known.get(table.id);
    known.delete(table.id);
    if (kept && kept.policyVersion >= table.policyVersion) {
      known.set(table.id, kept);
      return kept;
    }
    const found = await findTableGovernance(db, table);
    if (!found) throw notFound('workbook');
    const tags = new Map<number, string[]>();
    for (const [columnId, tag] of found.tags) tags.set(columnId, [...(tags.get(columnId) ?? []), tag]);
    const governance = { policyVersion: found.policyVersion, tags, rules: indexRules(found.rules) };
    if (found.tags.length + found.rules.length <= mostTags) known.set(table.id, governance);
    for (const id of known.keys()) {
      if (known.size <= mostTables) break;
      known.delete(id);
    }
    return governance;
  };

  return {
    read,
    async columnEffects(principal, { table, columns }) {
      const { tags, rules } = await read(table);
      if (tags.size === 0) return noEffects;
      const workbook = await findVisibleWorkbook(db, {
        id: table.workbookId,
        userId: principal.userId,
        accountId: principal.kind === 'session' ? null : principal.accountId,
      });
      if (!workbook) throw notFound('workbook');
      const asker = askerIn(workbook, principal);
      const effects = new Map<number, ColumnEffect>();
      for (const { id } of columns) {
        const { effect } = decideEffect(tags.get(id) ?? [], rules, asker);
        if (effect !== 'allow') effects.set(id, effect);
      }
      return effects;
    },
    isGoverned: async (workbookId) => (await listGoverned(db.orm, [workbookId])).size > 0,
  };
}
