import { mayHold } from '../../core/table/layers.ts';
import { type ColumnRecord, type RowSelection, rowIdColumn } from '../../core/table/table.ts';
import { rowIdField, type VisibleColumn, type VisibleTable } from '../../core/table/visibleTable.ts';
import { quoteName, quoteText, type Relation, type Tail } from './relation.ts';

export const opColumn = '__svc_op';
export const layerColumn = '__svc_layer';

/** Parquet field ids of the service's own columns; user columns have their column id. */
export const fieldIds = {
  rowId: 0,
  op: 1_000_001,
  version: 1_000_002,
  changed: 1_000_003,
  before: 1_000_004,
  cells: 1_000_005,
  layer: 1_000_006,
} as const;

/** The name of a column inside files and log tables: made from its id, so that renames do not matter. */
export const innerName = (columnId: number) => `c${columnId}`;

/** The newest log entries of a version: in a local file, as JSON from `readNewestEntries`, or both, the JSON being newer. */
export interface LogTail {
  file: string | null;
  json: string | null;
}

export const noTail: LogTail = { file: null, json: null };

/** The relation of a table at a version. `selection` limits the rows, and so the files that are read. */
export function buildRelation({ at, columns, effects }: VisibleTable, log: LogTail, selection: RowSelection | null): Relation {
  const stored = columns.filter(({ masked }) => !masked);
  const segments = at.layers
    .filter((layer) => layer.kind === 'segment')
    .filter((layer) => !selection || mayHold(layer, selection))
    .map((layer) => layer.key);
  const deltas = at.layers.flatMap((layer, index) => (layer.kind === 'delta' ? [{ key: layer.key, index }] : []));
  const tail = log.json === null ? null : makeTail(stored, effects.size > 0 ? keepOnly(stored, log.json) : log.json);

  return {
    name: at.table.name,
    columns: [...columns, rowIdField],
    files: [...segments, ...deltas.map((delta) => delta.key)],
    tailFile: log.file,
    tail,
    governed: effects.size > 0,
    versionUid: at.versionUid,
    editVersion: at.editVersion,
    rowCount: at.rowCount,
    select(pathOf, tailName) {
      const inner = stored.map((column) => innerName(column.id)).join(', ');
      const listed = inner === '' ? '' : `, ${inner}`;
      const limit = selection ? ` WHERE ${limitRows(selection)}` : '';
      const files = (keys: string[], extra: [number, string, string][]) =>
        readFiles(keys.map(pathOf), [[fieldIds.rowId, rowIdColumn, 'BIGINT'], ...extra], stored);
      const changed = [...(log.file === null ? [] : [{ key: log.file, index: null }]), ...deltas];
      // All files are read in one call. The log's file stores the layer of each row; a delta file is one layer.
      const layer = `coalesce(${layerColumn}, [${changed.map(({ index }) => index ?? 'NULL').join(', ')}][CAST(file_index AS BIGINT) + 1])`;
      const keys = changed.map(({ key }) => key);
      const changes = [
        ...(tail ? [`SELECT ${rowIdColumn}, ${opColumn}, ${layerColumn}${listed} FROM ${quoteName(tailName)}`] : []),
        ...(keys.length === 0
          ? []
          : [`SELECT ${rowIdColumn}, ${opColumn}, ${layer} AS ${layerColumn}${listed} FROM ${files(keys, [opField, layerField])}${limit}`]),
      ];
      // A single source of changes has each row once, so no newest entry must be chosen.
      const isOne = keys.length + (tail ? 1 : 0) === 1;
      const base = segments.length === 0 ? null : `SELECT ${rowIdColumn}${listed} FROM ${files(segments, [])}${limit}`;
      return finish(columns, combine(base, changes, isOne, stored, listed));
    },
  };
}

/** The relation of a table whose visible content is in one local file, with nothing else in it. */
export function buildFileRelation({ at, columns }: VisibleTable, path: string): Relation {
  const stored = columns.filter(({ masked }) => !masked);
  const inner = [rowIdColumn, ...stored.map(({ id }) => innerName(id))].join(', ');
  return {
    name: at.table.name,
    columns: [...columns, rowIdField],
    files: [],
    tailFile: path,
    tail: null,
    governed: false,
    versionUid: at.versionUid,
    editVersion: at.editVersion,
    rowCount: at.rowCount,
    select: (pathOf) =>
      finish(columns, `SELECT ${inner} FROM ${readFiles([pathOf(path)], [[fieldIds.rowId, rowIdColumn, 'BIGINT']], stored)}`),
  };
}

const opField: [number, string, string] = [fieldIds.op, opColumn, 'VARCHAR'];
const layerField: [number, string, string] = [fieldIds.layer, layerColumn, 'INTEGER'];

export function limitRows(selection: RowSelection): string {
  return 'min' in selection
    ? `${rowIdColumn} BETWEEN ${selection.min} AND ${selection.max}`
    : `${rowIdColumn} IN (${selection.ids.join(', ')})`;
}

export function makeTail(columns: ColumnRecord[], json: string): Tail {
  return {
    columns: [
      { name: rowIdColumn, type: 'BIGINT', path: '$[0]' },
      { name: opColumn, type: 'VARCHAR', path: '$[1]' },
      { name: layerColumn, type: 'INTEGER', path: '$[2]' },
      // A row written before a column was added has that column's default; an explicit null stays null.
      ...columns.map(({ id, name, type, defaultText }) => ({
        name: innerName(id),
        type,
        path: `$[3]."${id}"`,
        absent: defaultText,
        shownAs: name,
      })),
    ],
    json,
  };
}

/** Removes the cells of hidden columns, so that they never reach the process that runs the reader's SQL. */
function keepOnly(columns: ColumnRecord[], log: string): string {
  type Entry = [rowId: number, op: string, layer: number, cells: Record<string, string | null> | null];
  const kept = (JSON.parse(log) as Entry[]).map(([rowId, op, layer, cells]): Entry => {
    const shown = cells && columns.flatMap(({ id }) => (id in cells ? [[id, cells[id] ?? null] as const] : []));
    return [rowId, op, layer, shown && Object.fromEntries(shown)];
  });
  return JSON.stringify(kept);
}

/** Files are read by field id. For columns newer than the file, the column's default is returned. */
function readFiles(paths: string[], service: [number, string, string][], columns: ColumnRecord[]): string {
  const entries = [
    ...service.map(([id, name, type]) => `${id}: {name: ${quoteText(name)}, type: ${quoteText(type)}, default_value: NULL::VARCHAR}`),
    ...columns.map(
      (column) =>
        `${column.id}: {name: ${quoteText(innerName(column.id))}, type: ${quoteText(column.type)}, default_value: ${column.defaultText === null ? 'NULL::VARCHAR' : quoteText(column.defaultText)}}`,
    ),
  ];
  return `read_parquet([${paths.map(quoteText).join(', ')}], schema = MAP {${entries.join(', ')}})`;
}

/** Later layers win by row id. */
function combine(base: string | null, changes: string[], isOne: boolean, stored: ColumnRecord[], listed: string): string {
  if (changes.length === 0) return base ?? selectNothing(stored);
  const newest = isOne
    ? changes[0]
    : `SELECT * FROM (${changes.join(' UNION ALL ')}) QUALIFY row_number() OVER (PARTITION BY ${rowIdColumn} ORDER BY ${layerColumn} DESC) = 1`;
  const kept = base === null ? '' : `SELECT ${rowIdColumn}${listed} FROM (${base}) ANTI JOIN changes USING (${rowIdColumn}) UNION ALL `;
  return `WITH changes AS MATERIALIZED (${newest}) ${kept}SELECT ${rowIdColumn}${listed} FROM changes WHERE ${opColumn} <> 'D'`;
}

/** No rows, with the right column types. */
function selectNothing(stored: ColumnRecord[]): string {
  const nulls = stored.map(({ id, type }) => `, CAST(NULL AS ${type}) AS ${innerName(id)}`);
  return `SELECT CAST(NULL AS BIGINT) AS ${rowIdColumn}${nulls.join('')} WHERE false`;
}

/** Renames columns to the user's names; masked ones are NULL and were not read. */
function finish(columns: VisibleColumn[], inner: string): string {
  const outer = columns.map((column) => {
    const value = column.masked
      ? `CAST(NULL AS ${column.type})`
      : column.type === 'JSON'
        ? `CAST(${innerName(column.id)} AS JSON)`
        : innerName(column.id);
    return `${value} AS ${quoteName(column.name)}`;
  });
  return `SELECT ${[...outer, rowIdColumn].join(', ')} FROM (${inner})`;
}
