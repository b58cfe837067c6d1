import { useState } from 'react';
import { api, ask, type Schemas } from '../../api/client.ts';
import { awaitReview } from '../../api/jobs.ts';
import { formatValue } from '../../grid/format.ts';
import { useWords } from '../../i18n/language.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { commonWords } from '../../parts/words.ts';
import { addressOf, Link } from '../../shell/router.tsx';
import { governanceWords } from './words.ts';

/** Doubtful places, each with evidence that leads to its cells. */
export function ReviewSection({ workbookId }: { workbookId: string }) {
  const t = useWords(governanceWords);
  const [review, setReview] = useState<Schemas['Review'] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      const path = { workbook_id: workbookId };
      const answer = await ask(api.POST('/api/v1/workbooks/{workbook_id}/review', { params: { path }, body: { mode: 'lint' } }));
      setReview('job_id' in answer ? await awaitReview(answer.job_id) : answer);
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <section>
      <h2>{t.review}</h2>
      <p className="dim">{t.reviewHint}</p>
      <button type="button" disabled={isBusy} onClick={() => void run()}>
        {isBusy ? t.reviewing : t.runReview}
      </button>
      {error !== null && <ProblemNote error={error} />}
      {review && (
        <>
          <p className="dim">{review.coverage.statement}</p>
          {review.findings.length === 0 && <p>{t.clean}</p>}
          <ul className="plain-list">
            {review.findings.map((finding) => (
              <FindingItem key={finding.id} workbookId={workbookId} finding={finding} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function FindingItem({ workbookId, finding }: { workbookId: string; finding: Schemas['Finding'] }) {
  const { severities } = useWords(commonWords);
  const table = addressOf('workbooks', workbookId, 'tables', finding.table);
  return (
    <li>
      <span className={`mark ${finding.severity}`}>{severities[finding.severity]}</span> <strong>{finding.message}</strong>
      {finding.suggested_fix && <p>{finding.suggested_fix}</p>}
      <div className="row">
        {finding.evidence.slice(0, 8).map(({ row_id: rowId, column, cell, value }) => {
          const place = new URLSearchParams({ ...(rowId ? { row: String(rowId) } : {}), ...(column ? { column } : {}), panel: 'cell' });
          return (
            <Link key={`${rowId} ${column} ${cell}`} to={`${table}?${place}`}>
              {finding.table} {rowId ?? ''} {column ?? ''} {cell ?? ''}: {formatValue(value)}
            </Link>
          );
        })}
      </div>
    </li>
  );
}
