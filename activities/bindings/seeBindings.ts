import type { Principal } from '../../core/access/principal.ts';
import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import { warnOfPolicies } from '../../core/policy/warnOfPolicies.ts';
import type { TableAt } from '../../core/table/table.ts';
import { type BindingRecord, listBindings } from '../../store/pg/bindings.ts';
import { listColumnsEver } from '../../store/pg/columns.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

/** A binding as somebody may see it, with what they should mind. */
export interface SeenBinding {
  binding: BindingRecord;
  table: string;
  warnings: string[];
}

/** The bindings of a table, oldest first. */
export async function pageBindings(services: Services, principal: Principal, at: TableAt, query: PageQuery): Promise<Page<SeenBinding>> {
  const see = await openBindings(services, principal, at);
  const page = await pageById(
    query,
    'bnd',
    (after, limit) => listBindings(services.db.orm, at.table.id, after, limit),
    ({ id }) => id,
  );
  return { ...page, items: page.items.map(see) };
}

/** How the caller sees bindings of the table: with warnings of its policies, and without names of columns that are denied to them. */
export async function openBindings(
  services: Services,
  principal: Principal,
  at: TableAt,
): Promise<(binding: BindingRecord) => SeenBinding> {
  const ever = await listColumnsEver(services.db.orm, at.table.id);
  const { effects } = await openVisibleColumns(services, principal, { table: at.table, columns: ever });
  const { tags, rules } = await services.policies.read(at.table);
  const isDenied = ({ id }: { id: number }) => effects.get(id) === 'deny';
  const columns = at.columns.map((column) => ({ name: column.name, tags: tags.get(column.id) ?? [], isDenied: isDenied(column) }));
  const warnings = warnOfPolicies(columns, rules);
  const denied = new Set(ever.filter(isDenied).flatMap(({ names }) => [...names].map((name) => name.toLowerCase())));
  return (binding) => {
    const shown = Object.entries(binding.ownershipMap ?? {}).filter(([name]) => !denied.has(name.toLowerCase()));
    const ownershipMap = binding.ownershipMap && Object.fromEntries(shown);
    return { binding: { ...binding, ownershipMap }, table: at.table.name, warnings };
  };
}
