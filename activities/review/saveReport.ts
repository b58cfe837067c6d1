import type { ReviewResult } from '../../core/jobs/reviewJobs.ts';
import { tableCreated } from '../../core/journal/tableNotes.ts';
import type { Cells } from '../../core/table/table.ts';
import { listTakenNames } from '../../store/pg/artifacts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertFirstRows } from '../../store/pg/rowLog.ts';
import { holdTables, insertTable } from '../../store/pg/tables.ts';
import { replaceInputs } from '../../store/pg/transforms.ts';
import { makeId } from '../../store/services.ts';

const columns = ['rule', 'severity', 'table', 'message', 'evidence', 'suggested_fix'].map((name) => ({ name, type: 'VARCHAR' }));

/** A table that was looked at, at the version that was read. */
export interface Target {
  id: string;
  editVersion: number;
}

/** Runs inside the transaction. A report is a table of findings, made from the tables that were looked at, so it goes stale with them. */
export async function saveReport(
  tx: Tx,
  workbook: { id: string; accountId: string },
  targets: Target[],
  { target, findings }: Pick<ReviewResult, 'target' | 'findings'>,
): Promise<string> {
  const held = await holdTables(tx, { changed: [], read: targets.map(({ id }) => id) });
  const taken = new Set((await listTakenNames(tx.client, workbook.id)).map((name) => name.toLowerCase()));
  const base = `${(target ?? 'workbook').slice(0, 180)}_review`;
  let name = base;
  for (let n = 2; taken.has(name.toLowerCase()); n += 1) name = `${base}_${n}`;
  const id = makeId('tbl');
  const rows = findings.map(({ rule, severity, table, message, evidence, suggestedFix }): Cells => {
    const texts = [rule, severity, table, message, JSON.stringify(evidence), suggestedFix];
    return Object.fromEntries(texts.map((text, k) => [k + 1, text]));
  });
  await insertTable(tx, {
    id,
    workbookId: workbook.id,
    accountId: workbook.accountId,
    name,
    layer: 'derived',
    type: 'report',
    versionUid: makeId('ver'),
    manifestId: makeId('mft'),
    columns,
    layers: [{ kind: 'log', after: 0, upTo: null }],
    rowCount: rows.length,
    nextRowId: rows.length + 1,
  });
  await insertFirstRows(tx, id, rows);
  // Everything in it may come from any cell, so it inherits all tags.
  const inputs = targets.filter((each) => held.has(each.id));
  await replaceInputs(
    tx,
    id,
    inputs.map((each) => ({
      inputId: each.id,
      inputVersion: each.editVersion,
      flows: null,
      staleSince: held.get(each.id)?.editVersion === each.editVersion ? null : tx.at,
      staleColumns: null,
    })),
  );
  tx.note(workbook.id, tableCreated({ id, name }, columns.length));
  return name;
}
