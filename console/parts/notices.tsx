import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { useWords } from '../i18n/language.tsx';
import { ProblemNote } from './ProblemNote.tsx';
import { commonWords } from './words.ts';

interface Notice {
  id: number;
  text?: string;
  error?: unknown;
  action?: { label: string; run: () => void };
}

interface Notices {
  say(text: string, action?: Notice['action']): void;
  fail(error: unknown): void;
}

const NoticeContext = createContext<Notices | null>(null);
const shownMs = 6_000;
let lastId = 0;

/** Short messages at the edge of the page. Refusals stay until they are dismissed. */
export function NoticeProvider({ children }: { children: ReactNode }) {
  const t = useWords(commonWords);
  const [shown, setShown] = useState<Notice[]>([]);
  const drop = useCallback((id: number) => setShown((before) => before.filter((each) => each.id !== id)), []);
  const notices = useMemo<Notices>(() => {
    const add = (notice: Omit<Notice, 'id'>) => {
      lastId += 1;
      const id = lastId;
      setShown((before) => [...before.slice(-3), { id, ...notice }]);
      return id;
    };
    return {
      say(text, action) {
        const id = add({ text, action });
        setTimeout(() => drop(id), action ? shownMs * 2 : shownMs);
      },
      fail: (error) => void add({ error }),
    };
  }, [drop]);
  return (
    <NoticeContext.Provider value={notices}>
      {children}
      <section className="notices" aria-live="polite" aria-label={t.messages}>
        {shown.map(({ id, text, error, action }) => (
          <div key={id} className="notice">
            {error === undefined ? <span>{text}</span> : <ProblemNote error={error} />}
            {action && (
              <button
                type="button"
                onClick={() => {
                  drop(id);
                  action.run();
                }}
              >
                {action.label}
              </button>
            )}
            <button type="button" className="plain" aria-label={t.dismiss} onClick={() => drop(id)}>
              ×
            </button>
          </div>
        ))}
      </section>
    </NoticeContext.Provider>
  );
}

export function useNotices(): Notices {
  const notices = useContext(NoticeContext);
  if (!notices) throw new Error('outside of the notices');
  return notices;
}
