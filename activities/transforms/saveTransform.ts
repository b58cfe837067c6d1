import type { Principal } from '../../core/access/principal.ts';
import { outputStale, transformDefined } from '../../core/journal/transformNotes.ts';
import { anyChange } from '../../core/lineage/staleness.ts';
import { fresh } from '../../core/transforms/transform.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { markStale, VersionMoved } from '../../store/pg/tableEdits.ts';
import { findCurrentTableById, holdTables } from '../../store/pg/tables.ts';
import { findTransform, lockGraph, readFreshness, type TransformRecord } from '../../store/pg/transforms.ts';
import { beginEventId, makeId, type Services } from '../../store/services.ts';
import { storeDefinition } from './commitRun.ts';
import { type CheckedTransform, refuseCycle } from './defineTransform.ts';
import { inputGone, planSql } from './planRun.ts';
import { checkPython } from './runPython.ts';

/** Checks that the transform binds, for one that is not run yet. */
export async function bindTransform(services: Services, principal: Principal, { definition }: CheckedTransform): Promise<void> {
  const asker = { userId: principal.userId, principal };
  if (definition.language === 'python') await checkPython(services, asker, definition);
  else await planSql(services, asker, definition, null);
}

/** The output of another definition is stale, and so is what is made from it. */
async function markOutput(tx: Tx, transformId: string, outputId: string): Promise<void> {
  const at = await findCurrentTableById(tx.client, outputId);
  if (!at) return;
  const freshness = (await readFreshness(tx.client, [transformId])).get(transformId) ?? fresh;
  if (freshness.staleSince === null) tx.note(at.table.workbookId, outputStale({ ...at.table, editVersion: at.editVersion }, tx.at, []));
  await markStale(tx, at.table, anyChange, beginEventId());
}

/** Runs inside the transaction: stores a transform without running it. An output that was made before is stale then. */
export async function saveTransform(
  tx: Tx,
  workbook: { id: string; accountId: string },
  { definition, replaced }: CheckedTransform,
): Promise<TransformRecord> {
  await lockGraph(tx, workbook.id);
  const stored = await findTransform(tx.orm, workbook.id, definition.name);
  if (stored?.id !== replaced?.id || stored?.revision !== replaced?.revision) throw new VersionMoved();
  await refuseCycle({ orm: tx.orm, pool: tx.client }, workbook.id, definition, stored);
  const held = await holdTables(tx, { changed: stored?.outputId ? [stored.outputId] : [], read: Object.values(definition.args) });
  for (const id of Object.values(definition.args)) if (!held.get(id)?.isActive) throw inputGone(null, null);
  const transformId = stored?.id ?? makeId('trf');
  const revision = (stored?.revision ?? 0) + 1;
  const output = { workbookId: workbook.id, accountId: workbook.accountId };
  if (stored?.outputId) await markOutput(tx, stored.id, stored.outputId);
  await storeDefinition(tx, { transformId, definition, stored, defines: true, output }, { revision });
  tx.note(workbook.id, transformDefined({ id: transformId, name: definition.name, revision }));
  return (await findTransform(tx.orm, workbook.id, definition.name)) as TransformRecord;
}
