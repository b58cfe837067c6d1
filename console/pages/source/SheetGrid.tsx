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
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { formatValue } from '../../grid/format.ts';
import { useGridTheme } from '../../grid/theme.ts';
import { contains, parseRange, type Range, toLetters } from './a1.ts';
import { cellOf, type Region, type Sheet } from './spec.ts';

interface SheetGridProps {
  label: string;
  sheet: Sheet;
  regions: Region[];
  chosen: string | null;
  /** Cells that light up. */
  lit: Range[];
  onSelect: (range: Range) => void;
  onChoose: (regionId: string) => void;
  /** A corner of the chosen region was dragged to a cell. */
  onResize: (range: Range) => void;
}

const colors: Record<Region['kind'], string> = { data: '#2f7ed8', report: '#8a4fd3', title: '#1a8f5a', note: '#9a7b00', form: '#c2571a' };
type Corner = 'start' | 'end';

/** The sheet as people know it, with what was understood in colour. */
export default function SheetGrid({ label, sheet, regions, chosen, lit, onSelect, onChoose, onResize }: SheetGridProps) {
  const theme = useGridTheme();
  const grid = useRef<DataEditorRef>(null);
  const [selection, setSelection] = useState<GridSelection>({ columns: CompactSelection.empty(), rows: CompactSelection.empty() });
  const [drag, setDrag] = useState<{ corner: Corner; range: Range } | null>(null);
  const [moved, setMoved] = useState(0);
  const { right, bottom } = sheet.range;
  const isDark = document.documentElement.dataset.theme === 'dark';

  const ranges = useMemo(() => regions.map((region) => ({ region, range: parseRange(region.range) })), [regions]);
  const columns = useMemo(
    () => Array.from({ length: right }, (_, i) => ({ id: String(i), title: toLetters(i + 1), width: widthOf(sheet, i + 1) })),
    [sheet, right],
  );
  const getCell = useCallback(
    ([col, i]: Item): GridCell => {
      const [column, row] = [col + 1, i + 1];
      const value = cellOf(sheet, column, row);
      const text = formatValue(value);
      const found = ranges.find(({ range }) => range && contains(range, column, row));
      const color = found ? colors[found.region.kind] : null;
      const isHeader = found?.region.header_rows.includes(row) ?? false;
      const isLit = lit.some((range) => contains(range, column, row));
      const ground = isLit ? (isDark ? '#6b5200' : '#ffe08a') : color ? `${color}${isHeader ? '38' : '14'}` : undefined;
      return {
        kind: GridCellKind.Text,
        data: text,
        displayData: text,
        allowOverlay: false,
        readonly: true,
        contentAlign: typeof value === 'number' || /^[△▲(-]?[¥\\$]?[\d,]+(\.\d+)?%?\)?$/.test(text) ? 'right' : 'left',
        themeOverride: { ...(ground ? { bgCell: ground } : {}), ...(isHeader ? { baseFontStyle: '600 13px' } : {}) },
      };
    },
    [sheet, ranges, lit, isDark],
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
      onResize(drag.range);
    };
    addEventListener('pointerup', end);
    return () => removeEventListener('pointerup', end);
  }, [drag, onResize]);

  const select = (next: GridSelection) => {
    setSelection(next);
    const range = next.current?.range;
    if (!range) return;
    onSelect({ left: range.x + 1, top: range.y + 1, right: range.x + range.width, bottom: range.y + range.height });
    const hit = ranges.find((each) => each.range && contains(each.range, range.x + 1, range.y + 1));
    if (hit && range.width * range.height === 1) onChoose(hit.region.id);
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
        rowHeight={24}
        headerHeight={26}
        smoothScrollX
        smoothScrollY
        theme={theme}
        width="100%"
        height="100%"
      />
      {current && !drag && (
        <Corners key={moved} grid={grid.current} range={current} onGrab={(corner) => setDrag({ corner, range: current })} />
      )}
    </div>
  );
}

function stretch({ corner, range }: { corner: Corner; range: Range }, column: number, row: number): Range {
  return corner === 'start'
    ? { ...range, left: Math.min(column, range.right), top: Math.min(row, range.bottom) }
    : { ...range, right: Math.max(column, range.left), bottom: Math.max(row, range.top) };
}

/** Two corners that can be dragged. With the keyboard, the range is typed beside it. */
function Corners({ grid, range, onGrab }: { grid: DataEditorRef | null; range: Range; onGrab: (corner: Corner) => void }) {
  const first = grid?.getBounds(range.left - 1, range.top - 1);
  const last = grid?.getBounds(range.right - 1, range.bottom - 1);
  return (
    <>
      {first && (
        <div className="corner" data-corner="start" style={{ left: first.x - 5, top: first.y - 5 }} onPointerDown={() => onGrab('start')} />
      )}
      {last && (
        <div
          className="corner"
          data-corner="end"
          style={{ left: last.x + last.width - 5, top: last.y + last.height - 5 }}
          onPointerDown={() => onGrab('end')}
        />
      )}
    </>
  );
}

function widthOf(sheet: Sheet, column: number): number {
  const texts = sheet.values.slice(0, 60).map((row) => formatValue(row[column - sheet.range.left]));
  const widest = Math.max(
    0,
    ...texts.map((text) => [...text.slice(0, 24)].reduce((sum, each) => sum + (each.charCodeAt(0) > 0x2e7f ? 13 : 7.5), 0)),
  );
  return Math.min(Math.max(56, widest + 18), 240);
}
