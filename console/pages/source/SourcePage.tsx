import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { download, type Schemas } from '../../api/client.ts';
import { isProblem } from '../../api/problem.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { addressOf, Link, usePlace } from '../../shell/router.tsx';
import { askRowLineage, useTables } from '../workbook/asks.ts';
import { formatRange, parseRange, type Range } from './a1.ts';
import { mostReviews, type Preview, useFindings, useMadeTables, usePreview, useSource, useSpec } from './asks.ts';
import { listDoubts, toRanges } from './doubts.ts';
import { Findings } from './Findings.tsx';
import { findRowsOfCell } from './findRows.ts';
import { RegionPanel } from './RegionPanel.tsx';
import type { Region } from './spec.ts';
import { useCorrections } from './useCorrections.ts';
import { usePaneRows } from './usePaneRows.ts';
import { sourceWords } from './words.ts';
import './source.css';

const SheetGrid = lazy(() => import('./SheetGrid.tsx'));
const TablePane = lazy(() => import('./TablePane.tsx'));

/** A file as people know it, beside the tables that came of it. */
export default function SourcePage({ workbookId, name }: { workbookId: string; name: string }) {
  const t = useWords(sourceWords);
  const { query } = usePlace();
  const source = useSource(workbookId, name);
  const preview = usePreview(workbookId, name, query.get('sheet'));
  // Asked for now, so that it is there when it is needed.
  useSpec(workbookId, name);
  if (isProblem(preview.error, 'governed-workbook'))
    return (
      <div className="page">
        <h2>{name}</h2>
        <p className="note">{t.governed}</p>
        <h3>{t.tables}</h3>
        <ul className="plain-list">
          {source.data?.artifacts.map((table) => (
            <li key={table}>
              <Link to={addressOf('workbooks', workbookId, 'tables', table)}>{table}</Link>
            </li>
          ))}
        </ul>
      </div>
    );
  return (
    <Answer of={source}>
      {(found) => <Answer of={preview}>{(sheet) => <SourceView workbookId={workbookId} source={found} sheet={sheet} />}</Answer>}
    </Answer>
  );
}

function SourceView({ workbookId, source, sheet }: { workbookId: string; source: Schemas['Source']; sheet: Preview }) {
  const t = useWords(sourceWords);
  const { query, setQuery } = usePlace();
  const { fail } = useNotices();
  const queries = useQueryClient();
  const spec = useSpec(workbookId, source.name);
  // The spec names the tables and their cells; without one, each table says its own.
  const described = useMadeTables(workbookId, spec.data === null ? source.artifacts : []);
  const corrections = useCorrections(workbookId, source.name, spec.data ?? null);
  const [selected, setSelected] = useState<Range | null>(null);
  const [litRows, setLitRows] = useState(new Set<number>());
  const [litCells, setLitCells] = useState<Range[]>([]);
  const [hasNoRows, setNoRows] = useState(false);

  const regions = useMemo(
    () => (corrections.regions ?? regionsOfTables(described)).filter((region) => region.sheet === sheet.name || region.sheet === ''),
    [corrections.regions, described, sheet.name],
  );
  const chosen = query.get('region');
  const region = regions.find(({ id }) => id === chosen) ?? null;
  const tables = source.artifacts;
  const tableName = query.get('table') ?? tables.find((each) => each === region?.name) ?? tables[0] ?? '';
  const rows = usePaneRows(workbookId, tableName);
  // Those that are still there.
  const { data: all } = useTables(workbookId);
  const made = useMemo(() => tables.filter((each) => all?.tables.some((table) => table.name === each)), [tables, all]);
  const [isReviewAsked, setReviewAsked] = useState(false);
  const isReviewed = made.length > 0 && (made.length <= mostReviews || isReviewAsked);
  const findings = useFindings(workbookId, made, isReviewed);
  const doubts = useMemo(() => listDoubts(spec.data ?? null, findings.data ?? []), [spec.data, findings.data]);
  const doubtful = useMemo(
    () => doubts.filter((each) => (each.sheet ?? sheet.name) === sheet.name).flatMap(({ cells }) => toRanges(cells)),
    [doubts, sheet.name],
  );

  // A link may name the cells.
  const named = query.get('cells');
  const lit = useMemo(() => {
    const range = named ? parseRange(named) : null;
    return litCells.length > 0 ? litCells : range ? [range] : [];
  }, [litCells, named]);

  /** The first of them is in the address. */
  const lightCells = (cells: Range[], on = sheet.name) => {
    const [first] = cells;
    setLitCells(cells);
    setQuery({ cells: first ? formatRange(first) : null, ...(on === sheet.name ? {} : { sheet: on }) });
  };
  const showRow = async (rowId: number, column: string) => {
    try {
      const { cells } = await queries.fetchQuery(askRowLineage(workbookId, tableName, rowId));
      const own = cells.filter((cell) => cell.source === source.name);
      // The cell that was chosen first, so that it comes into sight.
      own.sort((a, b) => Number(b.columns.includes(column)) - Number(a.columns.includes(column)));
      const [first] = own;
      setLitRows(new Set([rowId]));
      setNoRows(false);
      lightCells(
        own.filter((cell) => cell.sheet === first?.sheet).flatMap(({ range }) => parseRange(range) ?? []),
        first?.sheet ?? sheet.name,
      );
    } catch (error) {
      fail(error);
    }
  };
  const showCell = async (range: Range) => {
    setSelected(range);
    setQuery({ cells: formatRange(range) });
    setLitCells([]);
    if (range.left !== range.right || range.top !== range.bottom || !rows.data) return;
    const ids = rows.data.rows.map((row) => Number(row.__svc_row_id));
    const read = (rowId: number) => queries.fetchQuery(askRowLineage(workbookId, tableName, rowId));
    try {
      const found = await findRowsOfCell(ids, read, sheet.name, range.left, range.top);
      setLitRows(new Set(found));
      setNoRows(found.length === 0);
    } catch (error) {
      fail(error);
    }
  };
  const choose = useCallback(
    (id: string) => {
      const made = tables.find((each) => each === regions.find((region) => region.id === id)?.name);
      setQuery({ region: id, ...(made ? { table: made } : {}) });
    },
    [regions, tables, setQuery],
  );
  const resize = useCallback(
    (range: Range) => {
      if (region) corrections.setRange(region.id, range, sheet);
    },
    [region, corrections, sheet],
  );
  return (
    <div className="source">
      <div className="source-sheet">
        <div className="row toolbar">
          <h2>{source.name}</h2>
          <label className="row tight">
            <span className="dim">{t.sheet}</span>
            <select value={sheet.name} onChange={(event) => setQuery({ sheet: event.target.value, cells: null, region: null })}>
              {sheet.sheets.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <button
            type="button"
            onClick={() =>
              void download(`/api/v1${addressOf('workbooks', workbookId, 'sources', source.name)}/download`, source.filename).catch(fail)
            }
          >
            {t.download}
          </button>
          {sheet.isTruncated && <span className="dim">{t.truncated}</span>}
        </div>
        <Suspense fallback={null}>
          <SheetGrid
            label={t.cells(sheet.name)}
            sheet={sheet}
            regions={regions}
            chosen={chosen}
            lit={lit}
            doubtful={doubtful}
            onSelect={(range) => void showCell(range)}
            onChoose={choose}
            onResize={corrections.regions && resize}
          />
        </Suspense>
        {tableName && (
          <section className="pane">
            <div className="row">
              <h3>{t.tables}</h3>
              <select aria-label={t.tables} value={tableName} onChange={(event) => setQuery({ table: event.target.value })}>
                {tables.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
              <Link to={addressOf('workbooks', workbookId, 'tables', tableName)}>{t.openTable}</Link>
            </div>
            <p className="dim" role="status">
              {hasNoRows ? t.noRows : t.lineage}
            </p>
            <Suspense fallback={null}>
              <TablePane
                key={tableName}
                page={rows}
                name={tableName}
                lit={litRows}
                onCell={(rowId, column) => void showRow(rowId, column)}
              />
            </Suspense>
          </section>
        )}
      </div>
      <div className="source-side">
        <RegionPanel
          source={source}
          sheet={sheet}
          regions={regions}
          region={region}
          proposed={spec.data?.regions.find(({ id }) => id === chosen) ?? null}
          corrections={corrections}
          learned={spec.data?.learned?.find((each) => each.sheet === sheet.name)}
          selected={selected}
          onChoose={choose}
        />
        {made.length + doubts.length > 0 && (
          <Findings
            doubts={doubts}
            reviews={findings}
            onReview={isReviewed || made.length === 0 ? null : () => setReviewAsked(true)}
            onShow={(cells, on) => lightCells(cells, on ?? sheet.name)}
          />
        )}
      </div>
    </div>
  );
}

/** Without a spec, the tables say which cells they came from. */
function regionsOfTables(tables: Schemas['Table'][]): Region[] {
  return tables.flatMap(({ name, source }) =>
    source?.range
      ? [
          {
            id: `table ${name}`,
            sheet: source.sheet ?? '',
            range: source.range,
            kind: 'data' as const,
            name,
            header_rows: [],
            data_range: null,
            orientation: 'rows' as const,
            columns: [],
            selected: true,
          },
        ]
      : [],
  );
}
