import { type DerivedFrom, findConsistent } from '../../core/lineage/consistent.ts';
import { anyChange } from '../../core/lineage/staleness.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { listDerivations, saveDerivation } from '../../store/pg/derivations.ts';
import { restoreOverrides } from '../../store/pg/overrides.ts';
import { markStale } from '../../store/pg/tableEdits.ts';
import { listTransforms, markInconsistent, replaceInputs, reviveTransforms } from '../../store/pg/transforms.ts';
import { beginEventId } from '../../store/services.ts';
import type { RestorePlan } from './planRestore.ts';

/**
 * Runs inside the transaction of a restore, behind its contents: which derived tables agree with the restored ones, and which are
 * stale. `versions` are those that the restore made, by table.
 */
export async function settleDerived(
  tx: Tx,
  workbook: { id: string; accountId: string },
  plan: RestorePlan,
  versions: ReadonlyMap<string, number>,
): Promise<void> {
  await reviveTransforms(tx, plan.deletedIds);
  const made = (await listTransforms(tx.orm, workbook.id, null)).flatMap(({ id, revision, outputId }) =>
    outputId === null ? [] : [[outputId, { id, revision }] as const],
  );
  const transforms = new Map(made);
  const wanted = [...plan.held].filter(([id]) => transforms.has(id)).map(([tableId, editVersion]) => ({ tableId, editVersion }));
  const derivations = await listDerivations(tx.client, wanted);
  const consistent = findConsistent(plan.held, derivations, transforms);
  for (const [id, version] of versions) {
    if (transforms.has(id)) await restoreOverrides(tx, id, plan.held.get(id) ?? version, version);
    await markStale(tx, { id, workbookId: workbook.id }, anyChange, beginEventId(), consistent);
  }
  await markInconsistent(
    tx,
    [...versions.keys()].filter((id) => transforms.has(id) && !consistent.has(id)),
  );
  const current = new Map([...plan.seen.map(({ id, editVersion }) => [id, editVersion] as const), ...versions]);
  for (const id of consistent) {
    const derivation = derivations.get(id);
    if (!derivation) continue;
    const inputs = derivation.inputs.map(
      ({ inputId, flows }): DerivedFrom => ({ inputId, inputVersion: current.get(inputId) ?? 0, flows }),
    );
    await replaceInputs(tx, id, inputs);
    await saveDerivation(tx, { id, accountId: workbook.accountId }, current.get(id) ?? 0, { ...derivation, inputs });
  }
}
