import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { bindTemplate } from '../../core/transforms/template.ts';
import { openFiles } from '../../store/duckdb/relation.ts';
import { findTableAt, listTablesById } from '../../store/pg/tables.ts';
import { listInputs, listTransformsOfOutputs, type TransformRecord } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { tracedRowsSql, type WantedCell } from '../../store/tables/tracedRowsSql.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';

/** A row that another was made from, at the version of its table that was read. */
export interface InputRow {
  table: string;
  rowId: number;
  editVersion: number;
}

export interface InputRows {
  inputs: InputRow[];
  truncated: boolean;
}

const untold: InputRows = { inputs: [], truncated: false };
const mostRows = 1000;
/** Rows of the result with the same values: which of them is which is not known. */
const mostAlike = 20;
const timeoutMs = 10_000;
const resultLimits = { maxRows: 1_000_000, maxBytes: 64 * 1024 * 1024 };

/**
 * The rows that a row of a derived table was made from, found by running the transform again over what its last run read.
 * Nothing where the query does not tell them, where what it read is gone, or where a column that it read is hidden from the caller.
 */
export async function traceInputRows(services: Services, principal: Principal, at: TableAt, rowId: number): Promise<InputRows> {
  const [transform] = at.table.layer === 'base' ? [] : await listTransformsOfOutputs(services.db.orm, [at.table.id]);
  if (transform?.language !== 'sql' || transform.runRevision !== transform.revision) return untold;
  const inputs = await openRead(services, principal, transform, at);
  const cells = inputs && (await readCells(services, transform, at, rowId));
  if (!inputs || !cells || cells.length === 0) return untold;
  try {
    return await runTraced(services, principal.userId, transform, inputs, cells);
  } catch (error) {
    // It takes too long or too much, or the engine does not take what was written.
    if (error instanceof DomainError && error.code.startsWith('query-')) return untold;
    throw error;
  }
}

/** The inputs as the last run has read them, by argument. Null: one is gone, or something of it is hidden. */
async function openRead(
  services: Services,
  principal: Principal,
  { args }: TransformRecord,
  { table }: TableAt,
): Promise<Map<string, VisibleTable> | null> {
  const read = new Map((await listInputs(services.db.orm, [table.id])).map(({ inputId, inputVersion }) => [inputId, inputVersion]));
  const current = new Map((await listTablesById(services.db.pool, [...read.keys()])).map((at) => [at.table.id, at.table]));
  const opened = new Map<string, VisibleTable>();
  for (const [arg, id] of Object.entries(args)) {
    const [record, version] = [current.get(id), read.get(id)];
    const at = record && version != null ? await findTableAt(services.db.pool, record, version) : null;
    const visible = at && (await openVisibleTable(services, principal, at));
    if (!visible || visible.effects.size > 0) return null;
    opened.set(arg, visible);
  }
  return opened;
}

/** What the row is known by: its key, else its whole content. Texts of JSON may be written in several ways. */
async function readCells(services: Services, { key }: TransformRecord, at: TableAt, rowId: number): Promise<WantedCell[] | null> {
  const row = (await readStoredRows(services, at, [rowId])).get(rowId);
  const known = at.columns.filter(({ name, type }) => (key ? key.includes(name) : type !== 'JSON'));
  return row ? known.map(({ id, name, type }) => ({ column: name, type, text: row[id] ?? null })) : null;
}

async function runTraced(
  services: Services,
  userId: string,
  { template }: TransformRecord,
  inputs: Map<string, VisibleTable>,
  cells: WantedCell[],
): Promise<InputRows> {
  const bound = bindTemplate(template, [...inputs.keys()]);
  if (bound.kind === 'faulty') return untold;
  const named = [...inputs].map(([arg, { at, ...visible }]) => {
    const name = bound.names.get(arg) as string;
    return { visible: { ...visible, at: { ...at, table: { ...at.table, name } } }, table: at.table.name };
  });
  const sandbox = await services.sandbox();
  const traced = await sandbox.traceRows({ userId, sql: bound.sql, tables: named.map(({ visible }) => ({ name: visible.at.table.name })) });
  if (traced === null) return untold;
  const { sql, params } = tracedRowsSql(traced.sql, traced.lists, cells, mostRows + 1);
  const relations = await Promise.all(named.map(({ visible }) => openRelation(services, visible)));
  const blobs = await openFiles(services.blobs, relations);
  try {
    const limits = { ...resultLimits, pageLimit: mostAlike, timeoutMs, keepResult: false };
    const { pageJson, more } = await sandbox.run({ userId, sql, params, relations, pathOf: blobs.pathOf, ...limits });
    const rows = JSON.parse(pageJson.toString()) as Record<string, number[] | null>[];
    const found = named.flatMap(({ visible, table }, i) => {
      const ids = rows.flatMap((row) => row[traced.lists[i] as string] ?? []);
      return ids.map((rowId): InputRow => ({ table, rowId, editVersion: visible.at.editVersion }));
    });
    const distinct = [...new Map(found.map((row) => [`${row.rowId} ${row.table}`, row])).values()];
    return { inputs: distinct.slice(0, mostRows), truncated: more || distinct.length > mostRows };
  } finally {
    blobs.release();
  }
}
