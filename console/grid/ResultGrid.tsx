import { CompactSelection, DataEditor, type GridSelection, type Item } from '@glideapps/glide-data-grid';
import '@glideapps/glide-data-grid/dist/index.css';
import { useCallback, useMemo, useState } from 'react';
import { emptyCell, guessWidth, toCell } from './cells.ts';
import { useGridTheme } from './theme.ts';

interface ResultGridProps {
  label: string;
  columns: { name: string; type: string }[];
  rows: Record<string, unknown>[];
  masked?: string[];
}

/** Rows that are all here, to look at and to copy. */
export default function ResultGrid({ label, columns, rows, masked = [] }: ResultGridProps) {
  const theme = useGridTheme();
  const [selection, setSelection] = useState<GridSelection>({ columns: CompactSelection.empty(), rows: CompactSelection.empty() });
  const shown = useMemo(
    () =>
      columns.map(({ name }) => ({
        id: name,
        title: name,
        width: guessWidth(
          name,
          rows.slice(0, 40).map((row) => row[name]),
        ),
      })),
    [columns, rows],
  );
  const getCell = useCallback(
    ([col, row]: Item) => {
      const column = columns[col];
      return column
        ? toCell(rows[row]?.[column.name], column.type, { isEditable: false, isMasked: masked.includes(column.name) })
        : emptyCell;
    },
    [columns, rows, masked],
  );
  return (
    <DataEditor
      aria-label={label}
      columns={shown}
      rows={rows.length}
      getCellContent={getCell}
      gridSelection={selection}
      onGridSelectionChange={setSelection}
      getCellsForSelection
      rowMarkers="number"
      smoothScrollX
      smoothScrollY
      rowHeight={28}
      headerHeight={32}
      theme={theme}
      width="100%"
      height="100%"
    />
  );
}
