import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { api, ask, download, type Schemas } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { ExportChoice } from '../../parts/ExportChoice.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { addressOf, usePlace } from '../../shell/router.tsx';
import { inWorkbook, useTables } from '../workbook/asks.ts';
import { ChartView } from './ChartView.tsx';
import { SaveDialog } from './SaveDialog.tsx';
import type { Fault } from './SqlEditor.tsx';
import { askWords } from './words.ts';
import './ask.css';

const SqlEditor = lazy(() => import('./SqlEditor.tsx'));
const ResultGrid = lazy(() => import('../../grid/ResultGrid.tsx'));

const firstRows = 1_000;
/** The most that a result gives at once. */
const mostExported = 10_000;

export default function AskPage({ workbookId }: { workbookId: string }) {
  const t = useWords(askWords);
  const { query, setQuery } = usePlace();
  const tables = useTables(workbookId);
  const versions = useQuery({
    queryKey: inWorkbook(workbookId, 'versions'),
    queryFn: () =>
      ask(api.GET('/api/v1/workbooks/{workbook_id}/versions', { params: { path: { workbook_id: workbookId }, query: { limit: 200 } } })),
  });
  const draftKey = `console.query.${workbookId}`;
  const [initial] = useState(() => query.get('sql') ?? localStorage.getItem(draftKey) ?? '');
  const text = useRef(initial);
  const [result, setResult] = useState<Schemas['QueryResult'] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  const at = query.get('at') ?? '';
  const path = { workbook_id: workbookId };

  // After a reload the rows are still there, for who has asked for them; for others and after a day there is the query.
  const kept = query.get('result');
  useEffect(() => {
    if (!kept) return;
    const params = { path: { result_id: kept }, query: { limit: firstRows } };
    ask(api.GET('/api/v1/results/{result_id}', { params })).then(
      (answer) => typeof answer === 'object' && setResult((current) => current ?? answer),
      () => setQuery({ result: null }),
    );
  }, [kept, setQuery]);

  const schema = useMemo(
    () => Object.fromEntries((tables.data?.tables ?? []).map(({ name, schema: columns }) => [name, columns.map((column) => column.name)])),
    [tables.data],
  );
  const run = async () => {
    running?.abort();
    const abort = new AbortController();
    setRunning(abort);
    setError(null);
    setQuery({ sql: text.current });
    try {
      const body = { sql: text.current, limit: firstRows, ...(at ? { at } : {}) };
      const answer = await ask(api.POST('/api/v1/workbooks/{workbook_id}/query', { params: { path }, body, signal: abort.signal }));
      if (typeof answer === 'object') {
        setResult(answer);
        setQuery({ result: answer.id });
      }
    } catch (caught) {
      if (!abort.signal.aborted) setError(caught);
    }
    setRunning((current) => (current === abort ? null : current));
  };
  const validate = async (sql: string): Promise<Fault[]> => {
    if (sql.trim() === '') return [];
    // While the service cannot be asked, nothing is said.
    const answer = await ask(api.POST('/api/v1/workbooks/{workbook_id}/query/validate', { params: { path }, body: { sql } })).catch(
      () => null,
    );
    return answer?.errors ?? [];
  };
  return (
    <div className="page ask">
      <p className="dim">{t.hint}</p>
      <Suspense fallback={<div className="sql" />}>
        <SqlEditor
          label={t.editor}
          initial={initial}
          schema={schema}
          kinds={t.kinds}
          onChange={(next) => {
            text.current = next;
            localStorage.setItem(draftKey, next);
          }}
          onRun={() => void run()}
          validate={validate}
        />
      </Suspense>
      <div className="row">
        <button type="button" className="main" disabled={running !== null} onClick={() => void run()} title={t.runKey}>
          {running ? t.running : t.run}
        </button>
        {running && (
          <button type="button" onClick={() => running.abort()}>
            {t.stop}
          </button>
        )}
        <label className="row tight">
          <span className="dim">{t.at}</span>
          <select value={at} onChange={(event) => setQuery({ at: event.target.value })}>
            <option value="">{t.now}</option>
            {versions.data?.versions.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        </label>
      </div>
      {error !== null && <ProblemNote error={error} />}
      {result && <Result key={result.id} workbookId={workbookId} result={result} sql={text.current} />}
    </div>
  );
}

function Result({ workbookId, result, sql }: { workbookId: string; result: Schemas['QueryResult']; sql: string }) {
  const t = useWords(askWords);
  const { formatNumber } = useSpeech();
  const { say, fail } = useNotices();
  const { query, setQuery } = usePlace();
  const [isSaving, setSaving] = useState(false);
  const isChart = query.get('as') === 'chart';
  const exportAs = (format: string) => {
    if (result.row_count > mostExported) say(t.exportedFirst(formatNumber(mostExported)));
    void download(`/api/v1${addressOf('results', result.id)}?format=${format}&limit=${mostExported}`, `result.${format}`).catch(fail);
  };
  return (
    <section className="result" aria-label={t.results}>
      <div className="row">
        <span role="status">{t.took(formatNumber(result.row_count), formatNumber(result.elapsed_ms))}</span>
        {result.rows.length < result.row_count && <span className="dim">{t.firstOnly(formatNumber(result.rows.length))}</span>}
        <button type="button" aria-pressed={!isChart} onClick={() => setQuery({ as: null })}>
          {t.asRows}
        </button>
        <button type="button" aria-pressed={isChart} onClick={() => setQuery({ as: 'chart' })}>
          {t.asChart}
        </button>
        <button type="button" onClick={() => setSaving(true)}>
          {t.save}
        </button>
        <ExportChoice onExport={exportAs} />
      </div>
      {isChart ? (
        <ChartView result={result} />
      ) : result.rows.length === 0 ? (
        <p className="dim">{t.empty}</p>
      ) : (
        <div className="result-grid">
          <Suspense fallback={null}>
            <ResultGrid
              label={t.results}
              columns={result.columns}
              rows={result.rows as Record<string, unknown>[]}
              masked={result.masked_columns}
            />
          </Suspense>
        </div>
      )}
      {isSaving && (
        <SaveDialog workbookId={workbookId} sql={sql} tables={result.tables.map(({ name }) => name)} onClose={() => setSaving(false)} />
      )}
    </section>
  );
}
