import type { UseQueryResult } from '@tanstack/react-query';
import { useWords } from '../../i18n/language.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { commonWords } from '../../parts/words.ts';
import type { Range } from './a1.ts';
import { type Doubt, toRanges } from './doubts.ts';
import { sourceWords } from './words.ts';

interface FindingsProps {
  doubts: Doubt[];
  /** Reviews of the tables, which add to them. */
  reviews: UseQueryResult<unknown>;
  /** Has the tables reviewed; null where they are already. */
  onReview: (() => void) | null;
  /** Lights up cells, the foremost first; without any, the sheet is shown. */
  onShow: (cells: Range[], sheet: string | null) => void;
}

/** What is doubtful in the file and its tables, a line for each cause; each leads to its cells. */
export function Findings({ doubts, reviews, onReview, onShow }: FindingsProps) {
  const t = useWords(sourceWords);
  return (
    <section className="findings">
      <h3>{t.findings}</h3>
      <ul className="plain-list">
        {doubts.map((doubt) => (
          <DoubtItem key={doubt.id} doubt={doubt} onShow={onShow} />
        ))}
      </ul>
      {reviews.error && <ProblemNote error={reviews.error} onRetry={() => void reviews.refetch()} />}
      {onReview && (
        <button type="button" onClick={onReview}>
          {t.review}
        </button>
      )}
      <p className="dim" role="status">
        {reviews.isLoading ? t.reviewing : doubts.length === 0 && !reviews.error && !onReview ? t.noFindings : ''}
      </p>
    </section>
  );
}

function DoubtItem({ doubt, onShow }: { doubt: Doubt } & Pick<FindingsProps, 'onShow'>) {
  const t = useWords(sourceWords);
  const { severities } = useWords(commonWords);
  const { severity, kind, sheet, table, message, fix, cells, count, beside } = doubt;
  const show = (first: string[]) => onShow(toRanges([...first, ...cells.filter((cell) => !first.includes(cell)), ...beside]), sheet);
  const place = [...new Set([sheet, table])].filter(Boolean).join(' · ');
  return (
    <li>
      <button type="button" className="finding" disabled={cells.length === 0 && sheet === null} onClick={() => show([])}>
        <span className={`mark ${severity}`}>{kind === null ? severities[severity] : t.doubts[kind]}</span> {message}{' '}
        {place && <small className="dim">{place}</small>}
      </button>
      {cells.length > 0 && (
        <div className="row tight cells">
          {count > 1 && <small className="dim">{t.cellCount(count)}</small>}
          {cells.map((cell) => (
            <button key={cell} type="button" className="plain" onClick={() => show([cell])}>
              {cell}
            </button>
          ))}
          {count > cells.length && <small className="dim">{t.moreCells(count - cells.length)}</small>}
        </div>
      )}
      {fix && <p className="dim">{fix}</p>}
    </li>
  );
}
