import { CompactSelection, DataEditor, type DataEditorRef, type GridSelection, type Item } from '@glideapps/glide-data-grid';
import '@glideapps/glide-data-grid/dist/index.css';
import type { UseQueryResult } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { emptyCell, guessWidth, toCell } from '../../grid/cells.ts';
import { useGridTheme } from '../../grid/theme.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { sourceWords } from './words.ts';

interface TablePaneProps {
  page: UseQueryResult<Schemas['RowsPage']>;
  name: string;
  /** Rows that light up. */
  lit: Set<number>;
  onCell: (rowId: number, column: string) => void;
}

/** The first rows of a table, whose cells can be followed back to the sheet. */
export default function TablePane({ page, name, lit, onCell }: TablePaneProps) {
  return <Answer of={page}>{(data) => <PaneGrid page={data} name={name} lit={lit} onCell={onCell} />}</Answer>;
}

function PaneGrid({ page, name, lit, onCell }: { page: Schemas['RowsPage']; name: string } & Pick<TablePaneProps, 'lit' | 'onCell'>) {
  const t = useWords(sourceWords);
  const theme = useGridTheme();
  const [selection, setSelection] = useState<GridSelection>({ columns: CompactSelection.empty(), rows: CompactSelection.empty() });
  const grid = useRef<DataEditorRef>(null);
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
  // What is lit is selected, too: it comes into sight, and is told to who cannot see the colour.
  const litRows = useMemo(() => rows.flatMap((row, i) => (lit.has(Number(row.__svc_row_id)) ? [i] : [])), [rows, lit]);
  const [firstLit] = litRows;
  useEffect(() => {
    if (firstLit !== undefined) grid.current?.scrollTo(0, firstLit, 'vertical');
  }, [firstLit]);
  const shown = useMemo(
    () => ({ ...selection, rows: litRows.reduce((picked, i) => picked.add(i), CompactSelection.empty()) }),
    [selection, litRows],
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
        ref={grid}
        aria-label={`${t.tables}: ${name}`}
        columns={columns}
        rows={rows.length}
        getCellContent={getCell}
        gridSelection={shown}
        onGridSelectionChange={(next) => {
          setSelection({ ...next, rows: CompactSelection.empty() });
          const [col = 0, i = -1] = next.current?.cell ?? [];
          const row = rows[i];
          if (row) onCell(Number(row.__svc_row_id), defs[col]?.name ?? '');
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
