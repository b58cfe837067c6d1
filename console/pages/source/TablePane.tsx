import { CompactSelection, DataEditor, type GridSelection, type Item } from '@glideapps/glide-data-grid';
import '@glideapps/glide-data-grid/dist/index.css';
import type { UseQueryResult } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { emptyCell, guessWidth, toCell } from '../../grid/cells.ts';
import { useGridTheme } from '../../grid/theme.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { sourceWords } from './words.ts';

interface TablePaneProps {
  page: UseQueryResult<Schemas['RowsPage']>;
  table: Schemas['Table'];
  /** Rows that light up. */
  lit: Set<number>;
  onRow: (rowId: number) => void;
}

/** The first rows of a table, whose cells can be followed back to the sheet. */
export default function TablePane({ page, table, lit, onRow }: TablePaneProps) {
  return <Answer of={page}>{(data) => <PaneGrid page={data} table={table} lit={lit} onRow={onRow} />}</Answer>;
}

function PaneGrid({
  page,
  table,
  lit,
  onRow,
}: { page: Schemas['RowsPage']; table: Schemas['Table'] } & Pick<TablePaneProps, 'lit' | 'onRow'>) {
  const t = useWords(sourceWords);
  const theme = useGridTheme();
  const [selection, setSelection] = useState<GridSelection>({ columns: CompactSelection.empty(), rows: CompactSelection.empty() });
  const isDark = document.documentElement.dataset.theme === 'dark';
  const rows = page.rows as Record<string, unknown>[];
  const defs = useMemo(() => page.columns.filter(({ name }) => name !== '__svc_row_id'), [page.columns]);
  const columns = useMemo(
    () =>
      defs.map(({ name }) => ({
        id: name,
        title: name,
        width: guessWidth(
          name,
          rows.slice(0, 40).map((row) => row[name]),
        ),
      })),
    [defs, rows],
  );
  const getCell = useCallback(
    ([col, i]: Item) => {
      const [row, def] = [rows[i], defs[col]];
      if (!row || !def) return emptyCell;
      const isLit = lit.has(Number(row.__svc_row_id));
      return toCell(row[def.name], def.type, {
        isEditable: false,
        isMasked: page.masked_columns.includes(def.name),
        theme: isLit ? { bgCell: isDark ? '#6b5200' : '#ffe08a' } : undefined,
      });
    },
    [rows, defs, lit, isDark, page.masked_columns],
  );
  return (
    <div className="pane-grid">
      <DataEditor
        aria-label={`${t.tables}: ${table.name}`}
        columns={columns}
        rows={rows.length}
        getCellContent={getCell}
        gridSelection={selection}
        onGridSelectionChange={(next) => {
          setSelection(next);
          const row = next.current && rows[next.current.cell[1]];
          if (row) onRow(Number(row.__svc_row_id));
        }}
        rowMarkers="number"
        rowHeight={24}
        headerHeight={28}
        smoothScrollX
        smoothScrollY
        theme={theme}
        width="100%"
        height="100%"
      />
    </div>
  );
}
