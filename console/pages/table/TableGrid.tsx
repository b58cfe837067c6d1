import {
  CompactSelection,
  DataEditor,
  type DataEditorProps,
  type DataEditorRef,
  type EditListItem,
  type GridCell,
  type GridColumn,
  type GridSelection,
  type Item,
  type Rectangle,
} from '@glideapps/glide-data-grid';
import '@glideapps/glide-data-grid/dist/index.css';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { emptyCell, guessWidth, parseValue, toCell } from '../../grid/cells.ts';
import { readColor, useGridTheme } from '../../grid/theme.ts';
import { useWords } from '../../i18n/language.tsx';
import { loadPart } from '../../shell/parts.ts';
import { usePlace } from '../../shell/router.tsx';
import { askNotes } from './askNotes.ts';
import { ColumnMenu } from './ColumnMenu.tsx';
import type { CellEdit } from './editQueue.ts';
import { type ChosenCell, idOf, type Row, type RowStore } from './rowStore.ts';
import type { Editing } from './useEditing.ts';
import { tableWords } from './words.ts';

interface TableGridProps {
  workbookId: string;
  name: string;
  store: RowStore;
  editing: Editing;
  isEditable: boolean;
  chosen: ChosenCell | null;
  onChoose: (cell: ChosenCell | null) => void;
  onPick: (rowIds: number[]) => void;
}

// What is typed opens the editor of a cell. It must be here by then, or the next letters would be lost.
void loadPart('data-grid-overlay-editor');

const isSame = (a: ChosenCell, b: ChosenCell | null) => a.rowId === b?.rowId && a.column === b.column;

const noSelection: GridSelection = { columns: CompactSelection.empty(), rows: CompactSelection.empty() };

/** The rows on a canvas, drawn as far as they are in sight. */
export default function TableGrid({ workbookId, name, store, editing, isEditable, onChoose, onPick }: TableGridProps) {
  const t = useWords(tableWords);
  const theme = useGridTheme();
  const { query, setQuery } = usePlace();
  const grid = useRef<DataEditorRef>(null);
  const [selection, setSelection] = useState(noSelection);
  const [widths, setWidths] = useState<Record<string, number>>({});
  const [menu, setMenu] = useState<{ column: string; bounds: Rectangle } | null>(null);
  const { queue } = editing;
  const { columns: defs, masked, revision } = store;
  const sorted = (query.get('sort') ?? '').split(':');

  const columns = useMemo<GridColumn[]>(() => {
    const sample = store.sample();
    return defs.map(({ name: id }) => ({
      id,
      title: id,
      width:
        widths[id] ??
        guessWidth(
          id,
          sample.map((row) => row[id]),
        ),
      hasMenu: true,
    }));
  }, [defs, widths, store]);
  const shown = columns.map((column) =>
    column.id === sorted[0] ? { ...column, title: `${column.title} ${sorted[1] === 'desc' ? '↓' : '↑'}` } : column,
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the store and the queue change inside; their revisions say so
  const getCell = useCallback(
    ([col, i]: Item): GridCell => {
      const [row, def] = [store.row(i), defs[col]];
      if (!row || !def) return emptyCell;
      const pending = queue.pending(idOf(row), def.name);
      return toCell(pending ? pending.value : row[def.name], def.type, {
        isEditable,
        isMasked: masked.has(def.name),
        theme: pending ? { bgCell: readColor('warn-ground') } : undefined,
      });
    },
    [store, defs, masked, queue, isEditable, revision, queue.revision],
  );

  // Cells with a note have a mark in their corner, as in spreadsheets.
  const { data: notes } = useQuery(askNotes(workbookId, name));
  const noted = useMemo(
    () => new Set(notes?.annotations.flatMap(({ target, note }) => (note ? [`${target.row_id} ${target.column}`] : []))),
    [notes],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes inside; its revision says so
  const drawCell = useCallback<NonNullable<DataEditorProps['drawCell']>>(
    ({ ctx, rect, col, row: i, theme: { accentColor } }, draw) => {
      draw();
      const row = store.row(i);
      if (!row || !noted.has(`${idOf(row)} ${defs[col]?.name}`)) return;
      const right = rect.x + rect.width;
      ctx.save();
      ctx.beginPath();
      ctx.moveTo(right - 9, rect.y + 1);
      ctx.lineTo(right, rect.y + 1);
      ctx.lineTo(right, rect.y + 10);
      ctx.fillStyle = accentColor;
      ctx.fill();
      ctx.restore();
    },
    [store, defs, noted, revision],
  );

  const edit = (items: readonly EditListItem[]) => {
    const edits: CellEdit[] = [];
    let version = Number.POSITIVE_INFINITY;
    for (const {
      location: [col, i],
      value,
    } of items) {
      const [row, def] = [store.row(i), defs[col]];
      if (!row || !def || masked.has(def.name)) continue;
      version = Math.min(version, store.versionOf(i));
      const text = typeof value.data === 'string' ? value.data : '';
      edits.push({ rowId: idOf(row), column: def.name, value: parseValue(text, def.type), before: row[def.name] });
    }
    queue.add(version, edits);
  };

  /** A block from a spreadsheet: what lies behind the last row becomes new rows. */
  const paste = ([col, top]: Item, block: readonly (readonly string[])[]): boolean => {
    if (!isEditable) return false;
    const edits: CellEdit[] = [];
    const inserts: Row[] = [];
    let version = store.version ?? 0;
    for (const [down, line] of block.entries()) {
      const row = top + down < store.rowCount ? store.row(top + down) : undefined;
      const made: Row = {};
      for (const [right, text] of line.entries()) {
        const def = defs[col + right];
        if (!def || masked.has(def.name)) continue;
        const value = parseValue(text, def.type);
        if (row) edits.push({ rowId: idOf(row), column: def.name, value, before: row[def.name] });
        else made[def.name] = value;
      }
      if (row) version = Math.min(version, store.versionOf(top + down));
      else if (Object.keys(made).length > 0) inserts.push(made);
    }
    queue.add(version, edits, inserts);
    return false;
  };

  // Who reloads or shares the page finds the cell again. Not while somebody is on the way through the grid.
  const ownAddress = useRef<ChosenCell | null>(null);
  const writing = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(writing.current), []);
  const writeAddress = (cell: ChosenCell | null) => {
    clearTimeout(writing.current);
    if (!cell) return;
    writing.current = setTimeout(() => {
      ownAddress.current = cell;
      setQuery({ row: String(cell.rowId), column: cell.column });
    }, 300);
  };
  const select = (next: GridSelection) => {
    setSelection(next);
    const [col, i] = next.current?.cell ?? [-1, -1];
    const row = store.row(i);
    const column = defs[col]?.name;
    const cell = row && column !== undefined ? { rowId: idOf(row), column } : null;
    writeAddress(cell);
    onChoose(cell);
    onPick(next.rows.toArray().flatMap((each) => (store.row(each) ? [idOf(store.row(each) as Row)] : [])));
  };

  const inSight = useRef<[number, number]>([0, 0]);
  // Rows in another order: other ones stand where something was chosen and looked at.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only then
  useEffect(() => {
    store.show(...inSight.current);
    if (selection.current) select(selection);
  }, [store]);

  // A link may name a row: the page was opened for it.
  const wanted = Number(query.get('row'));
  const wantedColumn = query.get('column');
  const wantsJump = useRef(false);
  useEffect(() => {
    // Not to what was written into the address here: somebody may be elsewhere by then.
    wantsJump.current = wanted > 0 && !isSame({ rowId: wanted, column: wantedColumn ?? '' }, ownAddress.current);
  }, [wanted, wantedColumn]);
  useEffect(() => {
    if (!wantsJump.current) return;
    const i = store.findIndex(wanted);
    if (i === null) return store.seek(wanted);
    wantsJump.current = false;
    const col = Math.max(
      0,
      defs.findIndex((def) => def.name === wantedColumn),
    );
    grid.current?.scrollTo(col, i);
    const cell: Item = [col, i];
    select({ ...noSelection, current: { cell, range: { x: col, y: i, width: 1, height: 1 }, rangeStack: [] } });
  });

  const press = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'z' && !event.shiftKey) {
      event.preventDefault();
      void editing.undo?.();
    }
  };
  /** As spreadsheets do, by Alt and the arrow down. */
  const openMenu = (col: number) => {
    const [column, bounds] = [defs[col]?.name, grid.current?.getBounds(col, -1)];
    if (column !== undefined && bounds) setMenu({ column, bounds });
  };
  const closeMenu = useCallback(() => {
    setMenu(null);
    grid.current?.focus();
  }, []);
  const isFiltered = query.has('filter');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys that the grid inside does not take
    <div className="grid" onKeyDown={press}>
      <DataEditor
        ref={grid}
        aria-label={t.grid(name)}
        columns={shown}
        rows={store.rowCount}
        getCellContent={getCell}
        drawCell={noted.size > 0 ? drawCell : undefined}
        onVisibleRegionChanged={({ y, height }) => {
          inSight.current = [y, y + height];
          store.show(y, y + height);
        }}
        gridSelection={selection}
        onGridSelectionChange={select}
        onCellsEdited={(items) => {
          edit(items);
          return true;
        }}
        onPaste={isEditable ? paste : false}
        getCellsForSelection
        rangeSelect="multi-rect"
        cellActivationBehavior="double-click"
        // A click into the cell that is chosen already would not bring the keyboard back from elsewhere.
        onCellClicked={() => grid.current?.focus()}
        rowMarkers="both"
        rowMarkerWidth={56}
        onColumnResize={({ id }, width) => setWidths((before) => ({ ...before, [id ?? '']: width }))}
        onKeyDown={(event) => {
          const [col] = selection.current?.cell ?? [];
          if (!event.altKey || event.key !== 'ArrowDown' || col === undefined) return;
          event.cancel();
          openMenu(col);
        }}
        onHeaderMenuClick={(col, bounds) => setMenu({ column: defs[col]?.name ?? '', bounds })}
        onHeaderContextMenu={(col, event) => {
          event.preventDefault();
          setMenu({ column: defs[col]?.name ?? '', bounds: event.bounds });
        }}
        fillHandle={isEditable}
        smoothScrollX
        smoothScrollY
        rowHeight={28}
        headerHeight={32}
        theme={theme}
        width="100%"
        height="100%"
        keybindings={{ search: false }}
        onDelete={() => isEditable}
        {...(isEditable
          ? {
              trailingRowOptions: { hint: '', sticky: false, tint: true },
              onRowAppended: () => queue.add(store.version ?? 0, [], [{}]),
            }
          : {})}
      />
      {store.rowCount === 0 && <p className="grid-empty dim">{isFiltered ? t.noMatch : `${t.empty} ${isEditable ? t.emptyHint : ''}`}</p>}
      {menu && (
        <ColumnMenu column={menu.column} bounds={menu.bounds} store={store} editing={editing} isEditable={isEditable} onClose={closeMenu} />
      )}
    </div>
  );
}
