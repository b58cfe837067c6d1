import {
  CompactSelection,
  DataEditor,
  type DataEditorRef,
  type GridCell,
  GridCellKind,
  type GridSelection,
  type Item,
} from '@glideapps/glide-data-grid';
import '@glideapps/glide-data-grid/dist/index.css';
import { type CSSProperties, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { formatValue } from '../../grid/format.ts';
import { useGridTheme } from '../../grid/theme.ts';
import { contains, parseRange, type Range, toLetters } from './a1.ts';
import { brightness, columnPixels, type Look, rowPixels, styleOf, tint } from './look.ts';
import { cellOf, isUnsure, type Region, type Sheet } from './spec.ts';
import { findSpills, type Spill } from './spills.ts';

interface SheetGridProps {
  label: string;
  sheet: Sheet & Look;
  regions: Region[];
  chosen: string | null;
  /** Cells that light up, the foremost first. */
  lit: Range[];
  /** Cells that something was found about. */
  doubtful: Range[];
  onSelect: (range: Range) => void;
  onChoose: (regionId: string) => void;
  /** An edge or a corner of the chosen region was dragged to a cell. Null: it cannot be. */
  onResize: ((range: Range) => void) | null;
}

/** Of regions that may be read otherwise. */
const unsureColor = '#d1480a';
const colors: Record<Region['kind'], string> = { data: '#2f7ed8', report: '#8a4fd3', title: '#1a8f5a', note: '#9a7b00', form: '#c2571a' };

type Side = 'left' | 'top' | 'right' | 'bottom';
/** What can be dragged: the edges, and over their ends the corners. */
const handles: Side[][] = [
  ['left'],
  ['top'],
  ['right'],
  ['bottom'],
  ['left', 'top'],
  ['right', 'top'],
  ['left', 'bottom'],
  ['right', 'bottom'],
];

/** The sheet as people know it, with what was understood in colour. */
export default function SheetGrid({ label, sheet, regions, chosen, lit, doubtful, onSelect, onChoose, onResize }: SheetGridProps) {
  const theme = useGridTheme();
  const grid = useRef<DataEditorRef>(null);
  const [selection, setSelection] = useState<GridSelection>({ columns: CompactSelection.empty(), rows: CompactSelection.empty() });
  const [drag, setDrag] = useState<{ sides: Side[]; range: Range } | null>(null);
  const [moved, setMoved] = useState(0);
  const { right, bottom } = sheet.range;
  const isDark = document.documentElement.dataset.theme === 'dark';

  const ranges = useMemo(() => regions.map((region) => ({ region, range: parseRange(region.range) })), [regions]);
  const columns = useMemo(
    () => Array.from({ length: right }, (_, i) => ({ id: String(i), title: toLetters(i + 1), width: columnPixels(sheet, i + 1) })),
    [sheet, right],
  );
  const inRow = useMemo(() => {
    const tables = ranges.flatMap(({ region: { kind }, range }) => ((kind === 'data' || kind === 'report') && range ? [range] : []));
    const widths = columns.map(({ width }) => width);
    const spillsOf = (row: number) => findSpills(sheet, row, widths, tables);
    return indexRows(ranges, sheet.merges, lit, doubtful, spillsOf);
  }, [ranges, sheet, columns, lit, doubtful]);
  const getCell = useCallback(
    ([col, i]: Item): GridCell => {
      const here = inRow(i + 1);
      const merge = here.merges.find((range) => contains(range, col + 1, i + 1));
      // A merged cell is the one at its start. It is drawn over its columns, in its first row.
      const spill = merge ? undefined : here.spills.find((range) => contains(range, col + 1, i + 1));
      const [column, row] = merge ? [merge.left, merge.top] : [spill?.owner ?? col + 1, i + 1];
      const over = merge ?? spill;
      const text = merge && row !== i + 1 ? '' : formatValue(cellOf(sheet, column, row));
      const style = styleOf(sheet, column, row);
      const found = here.regions.find(({ range }) => contains(range, column, row));
      const color = found?.color ?? null;
      const isHeader = found?.headers.has(row) ?? false;
      const isTotal = found?.totals.some((range) => contains(range, column, row)) ?? false;
      const isLit = here.lit.some((range) => contains(range, column, row));
      const isDoubtful = here.doubtful.some((range) => contains(range, column, row));
      const ground = groundOf({ style, color, share: isHeader ? 0.22 : isTotal ? 0.16 : 0.08, isLit, isDoubtful, isDark });
      const ink = inkOf(style, ground, isDark);
      const weight = style?.bold || isHeader || isTotal ? '600 ' : '';
      return {
        kind: GridCellKind.Text,
        data: text,
        displayData: `${'　'.repeat(Math.min(style?.indent ?? 0, 8))}${text}`,
        allowOverlay: false,
        readonly: true,
        allowWrapping: text.includes('\n'),
        contentAlign: style?.align ?? 'left',
        ...(over && over.left !== over.right ? { span: [over.left - 1, Math.min(over.right, right) - 1] as const } : {}),
        themeOverride: {
          ...(ground ? { bgCell: ground } : {}),
          ...(ink ? { textDark: ink } : {}),
          ...(weight || style?.italic ? { baseFontStyle: `${style?.italic ? 'italic ' : ''}${weight}13px` } : {}),
        },
      };
    },
    [sheet, inRow, isDark, right],
  );

  const current = drag?.range ?? ranges.find(({ region }) => region.id === chosen)?.range ?? null;
  const kind = ranges.find(({ region }) => region.id === chosen)?.region.kind ?? 'data';
  const outlines = current
    ? [
        {
          color: colors[kind],
          style: 'solid-outline' as const,
          range: {
            x: current.left - 1,
            y: current.top - 1,
            width: current.right - current.left + 1,
            height: current.bottom - current.top + 1,
          },
        },
      ]
    : [];

  // What is lit or chosen elsewhere comes into sight.
  const target = lit[0];
  useEffect(() => {
    if (target) grid.current?.scrollTo(target.left - 1, target.top - 1);
  }, [target]);

  useEffect(() => {
    if (!drag) return;
    const end = () => {
      setDrag(null);
      onResize?.(drag.range);
    };
    addEventListener('pointerup', end);
    return () => removeEventListener('pointerup', end);
  }, [drag, onResize]);

  const select = (next: GridSelection) => {
    setSelection(next);
    const range = next.current?.range;
    if (!range) return;
    const chosenCells = { left: range.x + 1, top: range.y + 1, right: range.x + range.width, bottom: range.y + range.height };
    const isWithin = (each: Range) =>
      contains(each, chosenCells.left, chosenCells.top) && contains(each, chosenCells.right, chosenCells.bottom);
    // A text that goes on beside its cell is chosen with what it covers; meant is its own cell.
    const spill = inRow(chosenCells.top).spills.find(isWithin);
    const cells = spill ? { ...chosenCells, left: spill.owner, right: spill.owner } : chosenCells;
    onSelect(cells);
    const hit = ranges.find((each) => each.range && contains(each.range, cells.left, cells.top));
    const isOne = (cells.left === cells.right && cells.top === cells.bottom) || sheet.merges.some(isWithin);
    if (hit && isOne) onChoose(hit.region.id);
  };
  return (
    <div className="sheet">
      <DataEditor
        ref={grid}
        aria-label={label}
        columns={columns}
        rows={bottom}
        getCellContent={getCell}
        gridSelection={selection}
        onGridSelectionChange={select}
        onMouseMove={(args) => {
          if (drag && args.kind === 'cell') setDrag({ ...drag, range: stretch(drag, args.location[0] + 1, args.location[1] + 1) });
        }}
        onVisibleRegionChanged={() => setMoved((n) => n + 1)}
        highlightRegions={outlines}
        getCellsForSelection
        rangeSelect={drag ? 'none' : 'rect'}
        columnSelect="none"
        rowMarkers="number"
        rowHeight={(i) => rowPixels(sheet, i + 1)}
        headerHeight={26}
        smoothScrollX
        smoothScrollY
        theme={theme}
        width="100%"
        height="100%"
      />
      {current && onResize && !drag && (
        <Handles key={moved} grid={grid.current} range={current} onGrab={(sides) => setDrag({ sides, range: current })} />
      )}
    </div>
  );
}

function stretch({ sides, range }: { sides: Side[]; range: Range }, column: number, row: number): Range {
  const next = { ...range };
  if (sides.includes('left')) next.left = Math.min(column, range.right);
  if (sides.includes('right')) next.right = Math.max(column, range.left);
  if (sides.includes('top')) next.top = Math.min(row, range.bottom);
  if (sides.includes('bottom')) next.bottom = Math.max(row, range.top);
  return next;
}

/** As thick as what can be grabbed of an edge, in pixels. */
const edge = 7;

/** Edges and corners that can be dragged, as far as they are in sight. With the keyboard, the range is typed beside it. */
function Handles({ grid, range, onGrab }: { grid: DataEditorRef | null; range: Range; onGrab: (sides: Side[]) => void }) {
  const sight = grid?.getBounds();
  const first = grid?.getBounds(range.left - 1, range.top - 1);
  const last = grid?.getBounds(range.right - 1, range.bottom - 1);
  if (!sight || !first || !last) return null;
  const at = { left: first.x, top: first.y, right: last.x + last.width, bottom: last.y + last.height };
  const [left, right] = [Math.max(at.left, sight.x), Math.min(at.right, sight.x + sight.width)];
  const [top, bottom] = [Math.max(at.top, sight.y), Math.min(at.bottom, sight.y + sight.height)];
  const isShown = { left: at.left === left, right: at.right === right, top: at.top === top, bottom: at.bottom === bottom };
  if (left > right || top > bottom) return null;
  const place = (sides: Side[]): CSSProperties => {
    const across = sides.includes('left') ? at.left : sides.includes('right') ? at.right : null;
    const down = sides.includes('top') ? at.top : sides.includes('bottom') ? at.bottom : null;
    return {
      left: (across ?? left) - (across === null ? 0 : edge / 2),
      top: (down ?? top) - (down === null ? 0 : edge / 2),
      width: across === null ? right - left : edge,
      height: down === null ? bottom - top : edge,
    };
  };
  return handles
    .filter((sides) => sides.every((side) => isShown[side]))
    .map((sides) => (
      <div
        key={sides.join()}
        className={sides.length === 2 ? 'handle corner' : 'handle'}
        data-sides={sides.join(' ')}
        style={place(sides)}
        onPointerDown={() => onGrab(sides)}
      />
    ));
}

interface Placed {
  range: Range;
  color: string;
  headers: Set<number>;
  totals: Range[];
}

/** What touches a row: a sheet may have hundreds of regions, and each cell in sight asks. */
function indexRows(
  all: { region: Region; range: Range | null }[],
  merges: Range[],
  lit: Range[],
  doubtful: Range[],
  spillsOf: (row: number) => Spill[],
) {
  const placed = all.flatMap(({ region, range }): Placed[] =>
    range
      ? [
          {
            range,
            color: isUnsure(region) ? unsureColor : colors[region.kind],
            headers: new Set(region.header_rows),
            totals: (region.totals ?? []).flatMap((total) => parseRange(total.range) ?? []),
          },
        ]
      : [],
  );
  const touches = (row: number) => (range: Range) => row >= range.top && row <= range.bottom;
  const find = (row: number) => ({
    regions: placed
      .filter(({ range }) => touches(row)(range))
      .map((each) => (each.totals.length > 0 ? { ...each, totals: each.totals.filter(touches(row)) } : each)),
    merges: merges.filter(touches(row)),
    spills: spillsOf(row),
    lit: lit.filter(touches(row)),
    doubtful: doubtful.filter(touches(row)),
  });
  const kept = new Map<number, ReturnType<typeof find>>();
  return (row: number) => {
    const known = kept.get(row) ?? find(row);
    kept.set(row, known);
    return known;
  };
}

interface Ground {
  style: ReturnType<typeof styleOf>;
  color: string | null;
  share: number;
  isLit: boolean;
  isDoubtful: boolean;
  isDark: boolean;
}

/** What is lit goes before doubt, doubt before the sheet's own colour, which shows what was understood over it. */
function groundOf({ style, color, share, isLit, isDoubtful, isDark }: Ground): string | null {
  if (isLit) return isDark ? '#6b5200' : '#ffe08a';
  if (isDoubtful) return isDark ? '#6b2f1a' : '#ffd3c2';
  const own = style?.fill ?? null;
  if (color === null) return own && `#${own}`;
  return tint(own ?? (isDark ? '141a22' : 'ffffff'), color.slice(1), share);
}

/** The sheet's own colour, where it can be read. */
function inkOf(style: ReturnType<typeof styleOf>, ground: string | null, isDark: boolean): string | null {
  const below = ground ? brightness(ground.slice(1)) : isDark ? 0.1 : 1;
  if (style?.color && Math.abs(brightness(style.color) - below) > 0.35) return `#${style.color}`;
  if (ground === null) return null;
  return below > 0.5 ? '#1c2430' : '#e4e9f0';
}
