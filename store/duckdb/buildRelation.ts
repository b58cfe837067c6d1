import { mayHold } from '../../core/table/layers.ts';
import { type ColumnRecord, type RowSelection, rowIdColumn } from '../../core/table/table.ts';
import { rowIdField, type VisibleColumn, type VisibleTable } from '../../core/table/visibleTable.ts';
import { quoteName, quoteText, type Relation, type Tail } from './relation.ts';

export const opColumn = '__svc_op';
export const layerColumn = '__svc_layer';

/** Parquet field ids: columns have their own id, these are the service's. */
export const fieldIds = {
  rowId: 0,
  op: 1_000_001,
  version: 1_000_002,
  changed: 1_000_003,
  before: 1_000_004,
  cells: 1_000_005,
  layer: 1_000_006,
} as const;

/** The name of a column inside files and tails: by id, never by the user's name. */
export const innerName = (columnId: number) => `c${columnId}`;

/** What the log layers of a version say: in a local file, as `readNewestEntries` gives it, or both, the latter being newer. */
export interface LogTail {
  file: string | null;
  json: string | null;
}

export const noTail: LogTail = { file: null, json: null };

/**
 * The relation of a table at a version. `log` are the newest entries of its log layers; `selection`, if given, limits it to
 * some row ids and with it the files that are read.
 */
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
      // The file of a tail knows the layer of each row, a delta is one; all of them are read in one go.
      const layer = `coalesce(${layerColumn}, [${changed.map(({ index }) => index ?? 'NULL').join(', ')}][CAST(file_index AS BIGINT) + 1])`;
      const keys = changed.map(({ key }) => key);
      const changes = [
        ...(tail ? [`SELECT ${rowIdColumn}, ${opColumn}, ${layerColumn}${listed} FROM ${quoteName(tailName)}`] : []),
        ...(keys.length === 0
          ? []
          : [`SELECT ${rowIdColumn}, ${opColumn}, ${layer} AS ${layerColumn}${listed} FROM ${files(keys, [opField, layerField])}${limit}`]),
      ];
      // One change alone holds a row but once.
      const isOne = keys.length + (tail ? 1 : 0) === 1;
      const base = segments.length === 0 ? null : `SELECT ${rowIdColumn}${listed} FROM ${files(segments, [])}${limit}`;
      return finish(columns, combine(base, changes, isOne, stored, listed));
    },
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

/** Without the cells of hidden columns: what a reader may not see does not go where his SQL runs, in no form. */
function keepOnly(columns: ColumnRecord[], log: string): string {
  type Entry = [rowId: number, op: string, layer: number, cells: Record<string, string | null> | null];
  const kept = (JSON.parse(log) as Entry[]).map(([rowId, op, layer, cells]): Entry => {
    const shown = cells && columns.flatMap(({ id }) => (id in cells ? [[id, cells[id] ?? null] as const] : []));
    return [rowId, op, layer, shown && Object.fromEntries(shown)];
  });
  return JSON.stringify(kept);
}

/** Files are read by field id: renames cost nothing, and an old file gives a later column's default. */
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

/** No rows, of the right types all the same. */
function selectNothing(stored: ColumnRecord[]): string {
  const nulls = stored.map(({ id, type }) => `, CAST(NULL AS ${type}) AS ${innerName(id)}`);
  return `SELECT CAST(NULL AS BIGINT) AS ${rowIdColumn}${nulls.join('')} WHERE false`;
}

/** User's names on the outside; what is masked was never read. */
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
