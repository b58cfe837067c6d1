import { useInfiniteQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { commonWords } from '../../parts/words.ts';
import { actionWords } from './actions.ts';
import { inWorkbook } from './asks.ts';
import { workbookWords } from './words.ts';

/** The audit log: who did what, and whether its chain is whole. */
export function ActivityPage({ workbookId }: { workbookId: string }) {
  const t = useWords(workbookWords);
  const common = useWords(commonWords);
  const actions = useWords(actionWords);
  const { formatTime } = useSpeech();
  const log = useInfiniteQuery({
    queryKey: inWorkbook(workbookId, 'audit'),
    queryFn: ({ pageParam }) =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/audit-log', {
          params: { path: { workbook_id: workbookId }, query: { limit: 100, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const [first] = log.data?.pages ?? [];
  return (
    <div className="page">
      <div className="row">
        <h2>{t.audit}</h2>
        {first && (
          <span className={`mark ${first.chain_valid ? 'succeeded' : 'failed'}`}>{first.chain_valid ? t.chainValid : t.chainBroken}</span>
        )}
      </div>
      {log.error && <ProblemNote error={log.error} onRetry={() => void log.refetch()} />}
      <ListTable heads={[t.when, t.who, t.what]}>
        {log.data?.pages
          .flatMap(({ entries }) => entries)
          .map(({ seq, at, actor, action, target }) => (
            <tr key={seq}>
              <td>{formatTime(at)}</td>
              <td>{actor}</td>
              <td>
                {actions[action] ?? action} <strong>{target}</strong> <code className="dim">{action}</code>
              </td>
            </tr>
          ))}
      </ListTable>
      {log.hasNextPage && (
        <button type="button" onClick={() => void log.fetchNextPage()}>
          {common.more}
        </button>
      )}
    </div>
  );
}
