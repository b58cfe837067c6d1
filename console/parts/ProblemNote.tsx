import { Problem, Unreachable } from '../api/problem.ts';
import { useWords } from '../i18n/language.tsx';
import { commonWords } from './words.ts';

interface Facts {
  title: string;
  detail: string;
  fix: string;
  instance: string;
  errors: { pointer: string; detail: string }[];
}

/** A refusal in the service's own words, with what it suggests. */
export function ProblemNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useWords(commonWords);
  const { title, detail, fix, instance, errors } = describe(error, t);
  return (
    <div className="problem" role="alert">
      <strong>{title}</strong>
      {detail !== title && <p>{detail}</p>}
      {errors.length > 0 && (
        <ul>
          {errors.slice(0, 10).map((each) => (
            <li key={each.pointer + each.detail}>
              <code>{each.pointer}</code> {each.detail}
            </li>
          ))}
        </ul>
      )}
      {fix && <p className="fix">{fix}</p>}
      <div className="row">
        {onRetry && (
          <button type="button" onClick={onRetry}>
            {t.retry}
          </button>
        )}
        {instance && (
          <small className="dim">
            {t.request} {instance}
          </small>
        )}
      </div>
    </div>
  );
}

function describe(error: unknown, t: (typeof commonWords)['en']): Facts {
  if (error instanceof Problem) {
    const { title, detail, suggested_fix: fix, instance, errors = [] } = error.document;
    // What is said already is not said again.
    return { title, detail, fix, instance, errors: errors.filter((each) => !detail.includes(each.detail)) };
  }
  const plain = { instance: '', errors: [] };
  if (error instanceof Unreachable) return { title: t.unreachable, detail: t.unreachable, fix: t.unreachableFix, ...plain };
  return { title: t.failed, detail: error instanceof Error ? error.message : String(error), fix: '', ...plain };
}
