import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../i18n/language.tsx';
import { ProblemNote } from './ProblemNote.tsx';
import { commonWords } from './words.ts';

/** What was asked for, or why it is not there. */
export function Answer<T>({ of, children }: { of: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  const t = useWords(commonWords);
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <ProblemNote error={of.error} onRetry={() => void of.refetch()} />;
  return (
    <p className="dim" role="status">
      {t.loading}
    </p>
  );
}
