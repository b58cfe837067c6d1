import type { RunOutcome } from '../../core/jobs/transformJobs.ts';
import { outputStale, transformRun } from '../../core/journal/transformNotes.ts';
import { anyChange, findPending, findStale, joinChanges, noChange } from '../../core/lineage/staleness.ts';
import { sumLayers } from '../../core/storage/use.ts';
import { openLog } from '../../core/table/layers.ts';
import type { TableAt, TableRecord } from '../../core/table/table.ts';
import type { TransformDefinition } from '../../core/transforms/transform.ts';
import { replaceColumnsAt } from '../../store/pg/columns.ts';
import { type Actor, applyStatementChange, commit, type Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { saveDerivation } from '../../store/pg/derivations.ts';
import { saveDraft } from '../../store/pg/sources.ts';
import { editTable, VersionMoved } from '../../store/pg/tableEdits.ts';
import { holdTables, insertTable, raiseCounters, updateTable } from '../../store/pg/tables.ts';
import { holdTags } from '../../store/pg/tagFlows.ts';
import {
  findTransform,
  holdEdges,
  holdRedefined,
  insertTransform,
  lockGraph,
  readChange,
  replaceInputs,
  type TransformRecord,
  updateTransform,
} from '../../store/pg/transforms.ts';
import { beginEventId, makeId, type Services } from '../../store/services.ts';
import { inheritFromInputs } from '../governance/inheritTags.ts';
import { commitForJob } from '../jobs/commitForJob.ts';
import { applyCarried } from '../overrides/applyOverrides.ts';
import { withRoom } from '../storage/withRoom.ts';
import { nameTaken, requireFreeName } from '../tables/takenNames.ts';
import { refuseCycle } from './defineTransform.ts';
import type { WrittenRows } from './executeRun.ts';
import { inputGone, listFlows, type PlannedRun } from './planRun.ts';
import type { RunJob } from './runJob.ts';

/** A run that is ready for its transaction. */
export interface PreparedRun {
  transformId: string;
  definition: TransformDefinition;
  /** The transform as it is stored. Null: the run creates it. */
  stored: TransformRecord | null;
  /** Whether the run stores a new definition. */
  defines: boolean;
  output: { id: string; workbookId: string; accountId: string; before: TableAt | null };
  plan: PlannedRun;
  rows: WrittenRows;
}

/** The stage under which a job remembers what the run that it is about came to, and others that follow from it. */
export const ownStage = 'own';
export const runStage = (transformId: string) => `run ${transformId}`;

/**
 * One transaction: the new version of the output, what it was made from, the transform, and what the run came to. Throws
 * `VersionMoved` if output or definition changed since they were read. Null: the job has ended meanwhile.
 */
export async function commitRun(services: Services, job: RunJob, stage: string, run: PreparedRun): Promise<RunOutcome | null> {
  const { output } = run;
  let outcome: RunOutcome | null = null;
  await withRoom(services, output.accountId, countBytes(run), () =>
    commitForJob<Omit<RunOutcome, 'opId'>, 'transform' | 'recompute' | 'restore'>(
      services,
      job,
      (tx) => applyRun(tx, run),
      async (tx, done, numbers) => {
        outcome = { ...done, opId: numbers.get(output.workbookId)?.firstOp ?? null } as RunOutcome;
        await saveDraft(tx.orm, job.id, stage, outcome);
      },
    ),
  );
  return outcome;
}

/** The same for a view that is made again because somebody reads it. */
export async function commitRefresh(services: Services, actor: Actor, run: PreparedRun): Promise<void> {
  await withRoom(services, run.output.accountId, countBytes(run), () => commit(services, actor, (tx) => applyRun(tx, run)));
}

const countBytes = ({ rows }: PreparedRun) => (rows.kind === 'written' ? sumLayers(rows.layers) : 0);

async function applyRun(tx: Tx, run: PreparedRun): Promise<Omit<RunOutcome, 'opId'>> {
  const { definition, stored, defines, plan, output, rows, transformId } = run;
  if (defines) await lockGraph(tx, output.workbookId);
  const policyVersion = await holdTagsOf(tx, run);
  if (defines) {
    const now = await findTransform(tx.orm, output.workbookId, definition.name);
    if (now?.id !== stored?.id || now?.revision !== stored?.revision) throw new VersionMoved();
    await refuseCycle({ orm: tx.orm, pool: tx.client }, output.workbookId, definition, stored);
  }
  const inputIds = [...new Set(plan.inputs.map(({ at }) => at.table.id))];
  // Tables before edges, and these in the direction of the data, as edits lock them: so that none waits for another in a circle.
  const held = await holdTables(tx, { changed: output.before ? [output.id] : [], read: inputIds });
  for (const { at } of plan.inputs) if (!held.get(at.table.id)?.isActive) throw inputGone(null, null);
  const revision = (stored?.revision ?? 0) + (defines ? 1 : 0);
  const inputs = plan.inputs.map(({ at }) => ({ name: at.table.name, editVersion: at.editVersion }));
  const editVersion = output.before ? output.before.editVersion + (rows.kind === 'written' ? 1 : 0) : 1;
  const rowCount = rows.kind === 'written' ? rows.rowCount : (output.before?.rowCount ?? 0);
  const noted = { id: output.id, name: definition.output, editVersion, isNew: rows.kind === 'written', rows: rowCount };
  const notes = transformRun({ id: transformId, name: definition.name, revision }, noted, inputs);
  const edges = await describeInputs(tx, run, held);
  if (output.before) await replaceInputs(tx, output.id, edges.inputs);
  try {
    if (rows.kind === 'written' && output.before) await writeVersion(tx, run, output.before, rows, notes);
    else tx.note(output.workbookId, notes);
    if (output.before?.table.name !== definition.output) await requireFreeName(tx, output.workbookId, definition.output, 'table');
    if (rows.kind === 'written' && !output.before) {
      await insertOutput(tx, run, rows);
      await replaceInputs(tx, output.id, edges.inputs);
    }
    if (output.before) await describeOutput(tx, output.before.table, definition);
    const columnIds = plan.output.columns.map(({ id }) => id);
    if (policyVersion > 0) await inheritFromInputs(tx, output, columnIds, edges.inputs);
  } catch (error) {
    if (brokenConstraint(error) === 'tables_name') throw nameTaken(definition.output);
    throw error;
  }
  const conflicts =
    rows.kind === 'written' ? await applyCarried(tx, { ...output, name: definition.output }, editVersion, rows.carried) : [];
  const from = edges.inputs.map(({ inputId, inputVersion, flows }) => ({ inputId, inputVersion, flows }));
  const moved = edges.inputs.filter(({ staleSince }) => staleSince !== null).map(({ name }) => name);
  if (moved.length > 0 && !edges.wasStale) tx.note(output.workbookId, outputStale(noted, tx.at, moved));
  const ran = { outputId: output.id, runRevision: revision, revision, lastRunAt: tx.at, lastError: null };
  await Promise.all([saveDerivation(tx, output, editVersion, { transformId, revision, inputs: from }), storeDefinition(tx, run, ran)]);
  return {
    transformId,
    at: tx.at.toISOString(),
    created: stored === null,
    conflicts,
    output: { tableId: output.id, name: definition.output, editVersion, rowCount },
    failed: null,
  };
}

/** No tag changes until the transaction ends. Returns the policy version; 0: there are none. */
async function holdTagsOf(tx: Tx, { plan, output }: PreparedRun): Promise<number> {
  const read = [...plan.inputs.map(({ at }) => at), ...(output.before ? [output.before] : [])];
  const policyVersion = Math.max(0, ...read.map(({ table }) => table.policyVersion));
  if (read.length > 0) await holdTags(tx, output.workbookId, policyVersion);
  return policyVersion;
}

/** A transform may be replaced by one with another name of its output, or a view by a table. */
async function describeOutput(tx: Tx, before: TableRecord, definition: TransformDefinition): Promise<void> {
  const { layer, type } = shapeOf(definition);
  if (before.name !== definition.output || before.layer !== layer)
    await updateTable(tx, before.id, { name: definition.output, layer, type });
}

const shapeOf = ({ materialize }: TransformDefinition) =>
  materialize === 'view' ? ({ layer: 'view', type: 'view' } as const) : ({ layer: 'derived', type: 'table' } as const);

/**
 * What the output was made from. An input that moved on meanwhile in something that is used, or is stale itself in that, makes the
 * output stale at once.
 */
async function describeInputs(tx: Tx, { plan, output }: PreparedRun, held: Map<string, { editVersion: number }>) {
  const flowsOf = listFlows(plan);
  const tables = new Map(plan.inputs.map(({ at }) => [at.table.id, at]));
  const [edges, redefined] = await Promise.all([holdEdges(tx, [...tables.keys(), output.id]), holdRedefined(tx, [...tables.keys()])]);
  const inputs = await Promise.all(
    [...tables].map(async ([inputId, at]) => {
      const flows = flowsOf.get(inputId) ?? null;
      const upTo = held.get(inputId)?.editVersion ?? at.editVersion;
      const change = upTo === at.editVersion ? noChange : await readChange(tx, inputId, { after: at.editVersion, upTo });
      const pending = redefined.has(inputId) ? anyChange : findPending(edges.filter(({ tableId }) => tableId === inputId));
      const moved = joinChanges(change, pending);
      const isStale = findStale([{ input: inputId, output: output.id, flows }], inputId, moved).has(output.id);
      return {
        inputId,
        name: at.table.name,
        inputVersion: at.editVersion,
        flows,
        staleSince: isStale ? tx.at : null,
        staleColumns: isStale && !moved.rows ? [...moved.columns] : null,
      };
    }),
  );
  return { inputs, wasStale: edges.some(({ tableId, moved }) => tableId === output.id && moved !== null) };
}

async function writeVersion(
  tx: Tx,
  { output, plan }: PreparedRun,
  before: TableAt,
  rows: Extract<WrittenRows, { kind: 'written' }>,
  notes: ReturnType<typeof transformRun>,
): Promise<void> {
  const { columns, nextColumnId } = plan.output;
  const isSame =
    before.columns.length === columns.length &&
    before.columns.every(({ id, name }, i) => id === columns[i]?.id && name === columns[i]?.name);
  const edit = {
    tableId: output.id,
    readVersion: before.editVersion,
    versionUid: makeId('ver'),
    inserted: rows.inserted,
    deleted: rows.deleted,
    entries: [],
    manifest: { id: makeId('mft'), layers: [...rows.layers, openLog] },
    schemaChanged: !isSame,
    change: rows.change,
    eventPrefix: beginEventId(),
  };
  const { editVersion } = await applyStatementChange(tx, editTable(edit, output.workbookId, notes));
  await Promise.all([
    raiseCounters(tx, output.id, { rowId: rows.nextRowId - 1, columnId: nextColumnId - 1 }),
    updateTable(tx, output.id, { tailCount: 0, tailBytes: 0 }),
  ]);
  if (!isSame) await replaceColumnsAt(tx, output, editVersion, columns);
}

async function insertOutput(
  tx: Tx,
  { definition, output, plan }: PreparedRun,
  rows: Extract<WrittenRows, { kind: 'written' }>,
): Promise<void> {
  await insertTable(tx, {
    id: output.id,
    workbookId: output.workbookId,
    accountId: output.accountId,
    name: definition.output,
    ...shapeOf(definition),
    versionUid: makeId('ver'),
    manifestId: makeId('mft'),
    columns: plan.output.columns.map(({ name, type }) => ({ name, type })),
    layers: [...rows.layers, { kind: 'log', after: 1, upTo: null }],
    rowCount: rows.rowCount,
    nextRowId: rows.nextRowId,
  });
}

/** Runs inside the transaction. */
export async function storeDefinition(
  tx: Tx,
  {
    transformId,
    definition,
    stored,
    defines,
    output,
  }: Pick<PreparedRun, 'transformId' | 'definition' | 'stored' | 'defines'> & { output: { workbookId: string; accountId: string } },
  ran: Partial<TransformRecord> & { revision: number },
): Promise<void> {
  if (stored) return updateTransform(tx.orm, transformId, { ...(defines ? { ...definition, updatedAt: tx.at } : {}), ...ran });
  await insertTransform(tx, {
    id: transformId,
    workbookId: output.workbookId,
    accountId: output.accountId,
    ...definition,
    ...ran,
    actor: tx.actor.name,
    userId: tx.actor.userId,
    createdAt: tx.at,
    updatedAt: tx.at,
  });
}
