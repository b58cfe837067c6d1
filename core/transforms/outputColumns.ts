import { checkNewColumns } from '../table/planColumns.ts';
import { type ColumnRecord, rowIdColumn } from '../table/table.ts';
import { type Conversion, chooseOutputType } from './outputType.ts';

/** A column of a derived table, and the column of the result that it is made of. */
export interface DerivedColumn {
  id: number;
  name: string;
  type: string;
  resultName: string;
  resultType: string;
  conversion: Conversion;
}

export interface OutputColumns {
  columns: DerivedColumn[];
  /** Ids of the key columns; null without a key. */
  key: number[] | null;
  nextColumnId: number;
}

interface ColumnsBefore {
  columns: ColumnRecord[];
  nextColumnId: number;
}

/**
 * The columns of the output of a run. Those that the version before had under the same name and type keep their ids. The row id,
 * which `SELECT *` takes along, is no column.
 */
export function planOutputColumns(
  result: { name: string; type: string }[],
  key: string[] | null,
  before: ColumnsBefore | null,
): { kind: 'planned'; output: OutputColumns } | { kind: 'faulty'; faults: { pointer: string; detail: string }[] } {
  const kept = result.filter(({ name }) => name.toLowerCase() !== rowIdColumn);
  const wanted = kept.map((column) => ({ ...column, ...chooseOutputType(column.type) }));
  if (wanted.length === 0) return { kind: 'faulty', faults: [{ pointer: '/template', detail: 'the result has no columns' }] };
  const checked = checkNewColumns(wanted.map(({ name, type }) => ({ name, type })));
  if (checked.kind === 'faulty') {
    const describe = ({ column, why }: { column: number; why: string }) =>
      `the name of column ${column + 1} of the result ${why}; give it another`;
    return { kind: 'faulty', faults: checked.faults.map((fault) => ({ pointer: '/template', detail: describe(fault) })) };
  }
  let next = before?.nextColumnId ?? 1;
  const columns = wanted.map((column, i): DerivedColumn => {
    const { name } = checked.columns[i] as { name: string };
    const old = before?.columns.find((each) => each.name === name && each.type === column.type);
    const id = old?.id ?? next;
    if (!old) next += 1;
    return {
      id,
      name,
      type: column.type,
      resultName: (kept[i] as { name: string }).name,
      resultType: (kept[i] as { type: string }).type,
      conversion: column.conversion,
    };
  });
  const faults = (key ?? []).flatMap((name, i) =>
    columns.some((column) => column.name === name) ? [] : [{ pointer: `/key/${i}`, detail: `the result has no column ${name}` }],
  );
  if (faults.length > 0) return { kind: 'faulty', faults };
  const keyIds = key && columns.filter(({ name }) => key.includes(name)).map(({ id }) => id);
  return { kind: 'planned', output: { columns, key: keyIds, nextColumnId: next } };
}
