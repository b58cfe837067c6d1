import { useWords } from '../../i18n/language.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import type { RowStore } from './rowStore.ts';
import type { Editing } from './useEditing.ts';
import { tableWords } from './words.ts';

/** What could not be read or saved, and what to do about it. */
export function EditBar({ editing: { queue }, store }: { editing: Editing; store: RowStore }) {
  const t = useWords(tableWords);
  const isHeld = queue.state === 'held' && queue.conflict === null;
  return (
    <>
      {store.error !== null && <ProblemNote error={store.error} onRetry={() => store.refresh()} />}
      {isHeld && (
        <div className="held">
          {queue.error !== null && <ProblemNote error={queue.error} />}
          <div className="row note" role="status">
            {t.held(queue.count)}
            <button type="button" className="main" onClick={() => queue.retry()}>
              {t.saveAgain}
            </button>
            <button type="button" onClick={() => queue.dropAll()}>
              {t.discard}
            </button>
          </div>
        </div>
      )}
    </>
  );
}
