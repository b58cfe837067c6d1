import type { VisibleColumn, VisibleTable } from '../../core/table/visibleTable.ts';
import { type AnnotationKey, type AnnotationRecord, listAnnotations } from '../../store/pg/annotations.ts';
import type { Services } from '../../store/services.ts';
import type { BatchExtras, CellExtra } from '../../store/xlsx/write/sheetWriter.ts';
import type { CellLook } from '../../store/xlsx/write/styleTable.ts';

const pageSize = 1000;

/** What annotations say of a table's cells. */
export interface TableAnnotations {
  /** The look of all cells of a column: from annotations of the table and of the column. */
  lookOf(column: VisibleColumn): CellLook;
  /** The note on a column; that on the table stands on the first one. */
  noteOf(column: VisibleColumn): string | undefined;
  /** Looks and notes of single rows and cells, for the next rows in order. Null: there are none. */
  next(rowIds: number[]): Promise<BatchExtras | null>;
}

/** Annotations are read in the order of rows, together with them; cells win over rows, rows over columns, columns over the table. */
export async function openAnnotations(
  services: Services,
  { at, columns: shown }: VisibleTable,
  columns: VisibleColumn[],
): Promise<TableAnnotations> {
  const shownColumns = shown.map(({ id }) => id);
  const masked = new Set(shown.flatMap((column) => (column.masked ? [column.id] : [])));
  const placeOf = new Map(columns.map(({ id }, place) => [id, place]));
  let page: AnnotationRecord[] = [];
  let taken = 0;
  let after: AnnotationKey | null = null;
  let isLast = false;
  /** The next annotation of a row up to `rowId`. */
  const take = async (rowId: number): Promise<AnnotationRecord | null> => {
    if (taken === page.length && !isLast) {
      taken = 0;
      const read = await listAnnotations(services.db.orm, at.table.id, { after, limit: pageSize, shownColumns });
      isLast = read.length < pageSize;
      after = read.at(-1) ?? after;
      // A note on a masked column may say what is in it.
      page = read.map((each) => (masked.has(each.columnId) ? { ...each, note: null } : each));
    }
    const next = page[taken];
    if (!next || next.rowId > rowId) return null;
    taken += 1;
    return next;
  };
  const ofColumns = new Map<number, CellLook>();
  const notes = new Map<number, string>();
  for (let each = await take(0); each; each = await take(0)) {
    ofColumns.set(each.columnId, readLook(each));
    if (each.note !== null) notes.set(each.columnId, each.note);
  }
  return {
    noteOf(column) {
      const found = [...(column === columns[0] ? [notes.get(0)] : []), notes.get(column.id)].filter((note) => note !== undefined);
      return found.length > 0 ? found.join('\n\n') : undefined;
    },
    lookOf: ({ id }) => ({ ...ofColumns.get(0), ...ofColumns.get(id) }),
    async next(rowIds) {
      const extras = new Map<number, Map<number, CellExtra>>();
      const last = rowIds.at(-1) ?? 0;
      let place = 0;
      for (let each = await take(last); each; each = await take(last)) {
        while ((rowIds[place] ?? last) < each.rowId) place += 1;
        if (rowIds[place] !== each.rowId) continue;
        const look = readLook(each);
        const row = extras.get(place) ?? new Map<number, CellExtra>();
        extras.set(place, row);
        // That of the row comes first, as it has column 0.
        const cells = each.columnId === 0 ? columns.keys() : [placeOf.get(each.columnId) ?? -1];
        for (const i of cells) row.set(i, { ...row.get(i), look: { ...row.get(i)?.look, ...look } });
        // A note on a row stands on its first cell.
        const noted = each.columnId === 0 ? 0 : (placeOf.get(each.columnId) ?? -1);
        const text = [row.get(noted)?.note, each.note ?? undefined].filter((note) => note !== undefined).join('\n\n');
        if (text !== '') row.set(noted, { ...row.get(noted), note: text });
      }
      return extras.size > 0 ? extras : null;
    },
  };
}

function readLook({ style }: AnnotationRecord): CellLook {
  const { number_format: numberFormat, ...look } = (style ?? {}) as CellLook & { number_format?: string };
  return { ...look, ...(numberFormat === undefined ? {} : { numberFormat }) };
}
