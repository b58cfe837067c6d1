import type { Principal } from '../../core/access/principal.ts';
import { DomainError, describeFirst } from '../../core/errors.ts';
import { describeFlows, type Flows, joinFlows, withColumnList } from '../../core/lineage/flows.ts';
import type { QueryLineage } from '../../core/lineage/readPlan.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import { type ColumnEffect, rowIdField, seeEverything, type VisibleTable } from '../../core/table/visibleTable.ts';
import { type OutputColumns, planOutputColumns } from '../../core/transforms/outputColumns.ts';
import { bindTemplate, unbindText } from '../../core/transforms/template.ts';
import type { TransformDefinition } from '../../core/transforms/transform.ts';
import type { Sandbox } from '../../store/duckdb/sandbox/sandbox.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { narrowTables } from '../query/narrowTables.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

/** An argument with its table. */
export interface BoundInput {
  arg: string;
  at: TableAt;
  /** The whole table, named as in the SQL: stored output must not depend on who runs it. */
  visible: VisibleTable;
}

export interface PlannedRun {
  inputs: BoundInput[];
  output: OutputColumns;
  /** Null: whatever changes in an input may change everything in the output. */
  lineage: QueryLineage | null;
  /** Whether the SQL takes all columns of an input, whatever there are. */
  allColumns: boolean;
}

interface PlannedSql extends PlannedRun {
  sql: string;
  names: ReadonlyMap<string, string>;
}

/** For whom something is run. */
export interface Asker {
  /** Whose share of the machine it takes. */
  userId: string;
  /** Who asks for this transform; null where it is run because an input changed. */
  principal: Principal | null;
  /** The template was stored before, so it may name columns that its asker knows nothing of. */
  isStored?: boolean;
  signal?: AbortSignal;
}

const planTimeoutMs = 10_000;

/** Opens the inputs at one moment and binds the SQL to their columns. Nothing is run. */
export async function planSql(
  services: Services,
  { userId, principal, isStored = false, signal }: Asker,
  definition: TransformDefinition,
  before: TableAt | null,
): Promise<PlannedSql> {
  const { sql, names } = requireBound(definition);
  const opened = await openInputs(services, definition, names);
  return inTheirWords(names, async () => {
    const inputs = await narrowInputs(services, userId, sql, opened);
    const effects = principal ? await readEffects(services, principal, inputs) : [];
    const plan = (isShown: IsShown) => bindSql(services, { userId, ...(signal ? { signal } : {}) }, sql, inputs, isShown);
    // What is wrong with the SQL is said by names that the caller may see.
    if (effects.some((each) => [...each.values()].includes('deny')))
      await plan((i, id) => effects[i]?.get(id) !== 'deny').catch((error: unknown) => {
        throw isStored && error instanceof DomainError ? usesHidden('a column of its tables') : error;
      });
    const planned = await plan(() => true);
    const used = listUsed(planned.lineage);
    requireVisible(inputs, effects, ({ visible }, column) => used.has(`${visible.at.table.name} ${column}`));
    return {
      sql,
      names,
      inputs,
      output: requireColumns(planned.columns, definition, before),
      lineage: planned.lineage,
      allColumns: planned.allColumns,
    };
  });
}

type IsShown = (input: number, columnId: number) => boolean;

async function bindSql(
  services: Services,
  caller: { userId: string; signal?: AbortSignal },
  sql: string,
  inputs: BoundInput[],
  isShown: IsShown,
): ReturnType<Sandbox['plan']> {
  const relations = inputs.map(({ visible }, i) => ({
    name: visible.at.table.name,
    columns: [...visible.columns.filter(({ id }) => isShown(i, id)), rowIdField],
  }));
  return (await services.sandbox()).plan({ ...caller, sql, relations, timeoutMs: planTimeoutMs });
}

/** Binds the SQL as if one of its tables had these columns. Throws refusals. */
export async function bindToColumns(
  services: Services,
  userId: string,
  definition: TransformDefinition,
  changed: { tableId: string; columns: ColumnRecord[] },
): Promise<void> {
  const { sql, names } = requireBound(definition);
  const opened = (await openInputs(services, definition, names)).map((input) =>
    input.at.table.id === changed.tableId
      ? { ...input, visible: seeEverything({ ...input.at, table: input.visible.at.table, columns: changed.columns }) }
      : input,
  );
  const inputs = await narrowInputs(services, userId, sql, opened);
  const { columns } = await bindSql(services, { userId }, sql, inputs, () => true);
  requireColumns(columns, definition, null);
}

/** Opens the tables that a Python template is given. It is given every column, so its caller must see every column. */
export async function openForPython(
  services: Services,
  principal: Principal | null,
  definition: TransformDefinition,
): Promise<BoundInput[]> {
  const inputs = await openInputs(services, definition, null);
  if (principal) requireVisible(inputs, await readEffects(services, principal, inputs), () => true);
  return inputs;
}

/** The columns of the output of a result with these columns. */
export function requireColumns(
  result: { name: string; type: string }[],
  { key }: Pick<TransformDefinition, 'key'>,
  before: TableAt | null,
): OutputColumns {
  const columns = planOutputColumns(result, key, before && { columns: before.columns, nextColumnId: before.table.nextColumnId });
  if (columns.kind === 'faulty') throw faulty(columns.faults);
  return columns.output;
}

export function faulty(errors: { pointer: string; detail: string }[]): DomainError {
  return new DomainError('validation-failed', describeFirst(errors), 'Correct what `errors` lists; nothing was changed.', { errors });
}

export function requireBuilt({ language, materialize }: Pick<TransformDefinition, 'language' | 'materialize'>): void {
  if (language === 'python' && materialize === 'view')
    throw faulty([{ pointer: '/materialize', detail: 'the output of a Python transform is a table' }]);
}

export function requireBound(definition: TransformDefinition): { sql: string; names: Map<string, string> } {
  const bound = bindTemplate(definition.template, Object.keys(definition.args));
  if (bound.kind === 'faulty') throw faulty(bound.faults);
  return bound;
}

/** `names`: those that the SQL has for the arguments. */
async function openInputs(
  services: Services,
  { args }: TransformDefinition,
  names: ReadonlyMap<string, string> | null,
): Promise<BoundInput[]> {
  const found = new Map((await listTablesById(services.db.pool, [...new Set(Object.values(args))])).map((at) => [at.table.id, at]));
  return Object.entries(args).map(([arg, id]) => {
    const at = found.get(id);
    if (!at || at.table.deletedAt !== null || at.table.state !== 'active') throw inputGone(arg, at ?? null);
    return { arg, at, visible: seeEverything({ ...at, table: { ...at.table, name: names?.get(arg) ?? at.table.name } }) };
  });
}

export function inputGone(arg: string | null, at: Pick<TableAt, 'table'> | null): DomainError {
  const which = arg === null ? '' : `, {{ ${arg} }},`;
  const state = at?.table.deletedAt === null ? 'is archived' : 'was deleted';
  return new DomainError(
    'in-use',
    `An input of the transform${which} ${state}.`,
    'Unarchive or restore it, or replace the transform by one that reads another table.',
  );
}

/** Limits wide tables to the columns that the SQL names. */
async function narrowInputs(services: Services, userId: string, sql: string, inputs: BoundInput[]): Promise<BoundInput[]> {
  if (!inputs.some(({ visible }) => isWide(visible.columns))) return inputs;
  const tables = inputs.map(({ visible }) => ({ name: visible.at.table.name }));
  const plan = await (await services.sandbox()).analyze({ userId, sql, tables });
  const narrow = narrowTables(
    inputs.map(({ visible }) => visible),
    plan,
  );
  return inputs.map((input, i) => ({ ...input, visible: narrow[i] as VisibleTable }));
}

/** Refusals speak of the arguments, not of the names that the SQL has for them. */
export async function inTheirWords<T>(names: ReadonlyMap<string, string>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { errors, ...extras } = error.extras;
    throw new DomainError(error.code, unbindText(error.detail, names), error.suggestedFix, {
      ...extras,
      ...(errors && {
        errors: errors.map((each) => ({
          ...each,
          detail: unbindText(each.detail, names),
          ...(each.pointer === '/sql' ? { pointer: '/template' } : {}),
        })),
      }),
    });
  }
}

type Effects = ReadonlyMap<number, ColumnEffect>;

function readEffects(services: Services, principal: Principal, inputs: BoundInput[]): Promise<Effects[]> {
  return Promise.all(inputs.map(async ({ at }) => (await openVisibleColumns(services, principal, at)).effects));
}

/** Refuses a principal from whom a column is hidden that the output depends on. Denied columns are not named. */
function requireVisible(inputs: BoundInput[], effects: Effects[], isUsed: (input: BoundInput, column: string) => boolean): void {
  for (const [i, input] of inputs.entries()) {
    const { at } = input;
    const hidden = at.columns.find(({ id, name }) => effects[i]?.has(id) && isUsed(input, name));
    if (!hidden) continue;
    const which = effects[i]?.get(hidden.id) === 'mask' ? `the column ${hidden.name}` : 'a column';
    throw usesHidden(`${which} of ${at.table.name}`);
  }
}

function usesHidden(what: string): DomainError {
  return new DomainError(
    'insufficient-role',
    `The transform uses ${what} that is hidden from you.`,
    'Name only columns that you may see, or ask somebody with the right to see it.',
  );
}

function listUsed({ columns, rows }: QueryLineage): Set<string> {
  const places = [rows, ...columns.flatMap(({ computedFrom, decidedBy }) => [computedFrom, decidedBy])].flat();
  return new Set(places.map(({ table, column }) => `${table} ${column}`));
}

/** What each input table changes in the output; nothing where that is not known. A table that is bound twice is one input. */
export function listFlows({ inputs, lineage, output, allColumns }: PlannedRun): Map<string, Flows> {
  if (!lineage) return new Map();
  const outputIds = new Map(output.columns.map(({ resultName, id }) => [resultName, id]));
  const flows = new Map<string, Flows>();
  for (const { at, visible } of inputs) {
    const inputIds = new Map(at.columns.map(({ name, id }) => [name, id]));
    const described = describeFlows(lineage, visible.at.table.name, inputIds, outputIds);
    const added = allColumns ? withColumnList(described) : described;
    const before = flows.get(at.table.id);
    flows.set(at.table.id, before ? joinFlows(before, added) : added);
  }
  return flows;
}
