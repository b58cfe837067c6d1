import type { AccessPreview } from '../../activities/governance/previewAccess.ts';
import type { TaggedColumn } from '../../activities/governance/tagColumn.ts';
import type { components } from '../../schema/contract.ts';
import type { ClassificationRecord } from '../../store/pg/classifications.ts';
import type { PolicyRecord } from '../../store/pg/governance.ts';

type Schemas = components['schemas'];

export function presentTagged(name: string, { column, tags, reached }: TaggedColumn): Schemas['ColumnTags'] {
  return { name, column, tags, reached };
}

export function presentClassification(found: ClassificationRecord): Schemas['Classification'] {
  const { table, column, tag, origin, fromTable, fromColumn, actor, createdAt } = found;
  const from = fromTable !== null && fromColumn !== null ? { table: fromTable, column: fromColumn } : null;
  return { table, column, tag, origin, inherited_from: from, actor, created_at: createdAt.toISOString() };
}

export function presentPolicy({ tag, role, effect, actor, createdAt, updatedAt }: PolicyRecord): Schemas['Policy'] {
  return { tag, role, effect, actor, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}

export function presentAccess(name: string, { roles, userId, columns, deniedCount }: AccessPreview): Schemas['TableAccess'] {
  return {
    name,
    roles: [...roles],
    user_id: userId,
    columns: columns.map(({ column, effect, tags, rule }) => ({
      column,
      effect: effect === 'allow' ? 'visible' : effect,
      tags: [...tags],
      rule,
    })),
    denied_count: deniedCount,
  };
}
