import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask, type Schemas } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Dialog } from '../../parts/Dialog.tsx';
import { Empty } from '../../parts/Empty.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { commonWords } from '../../parts/words.ts';
import { addressOf, Link, usePlace } from '../../shell/router.tsx';
import { DropZone, UploadButton } from './DropZone.tsx';
import { JobList } from './JobList.tsx';
import { UploadList } from './UploadList.tsx';
import { workbooksWords } from './words.ts';

export default function WorkbooksPage() {
  const t = useWords(workbooksWords);
  const common = useWords(commonWords);
  const { query, setQuery } = usePlace();
  const [isCreating, setCreating] = useState(false);
  const pages = useInfiniteQuery({
    queryKey: ['workbooks'],
    queryFn: ({ pageParam }) => ask(api.GET('/api/v1/workbooks', { params: { query: { limit: 100, cursor: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const all = pages.data?.pages.flatMap(({ workbooks }) => workbooks) ?? [];
  const filter = (query.get('title') ?? '').toLowerCase();
  const shown = all.filter(({ title }) => title.toLowerCase().includes(filter));
  return (
    <DropZone workbookId={null}>
      <div className="page">
        <div className="row">
          <h1>{t.title}</h1>
          <button type="button" className="main" onClick={() => setCreating(true)}>
            {t.create}
          </button>
          <UploadButton workbookId={null} />
          {all.length > 5 && (
            <input
              type="search"
              className="end"
              aria-label={t.filter}
              placeholder={t.filter}
              value={query.get('title') ?? ''}
              onChange={(event) => setQuery({ title: event.target.value })}
            />
          )}
        </div>
        <UploadList />
        {pages.error && !pages.data ? <ProblemNote error={pages.error} onRetry={() => void pages.refetch()} /> : null}
        {pages.isPending && (
          <p role="status" className="dim">
            {common.loading}
          </p>
        )}
        {pages.data && all.length === 0 && <Empty title={t.empty}>{t.emptyHint}</Empty>}
        {shown.length > 0 && <WorkbookTable workbooks={shown} />}
        {pages.hasNextPage && (
          <button type="button" onClick={() => void pages.fetchNextPage()}>
            {common.more}
          </button>
        )}
        <JobList />
      </div>
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </DropZone>
  );
}

function WorkbookTable({ workbooks }: { workbooks: Schemas['Workbook'][] }) {
  const t = useWords(workbooksWords);
  const { formatTime, formatNumber } = useSpeech();
  return (
    <table className="list">
      <thead>
        <tr>
          <th scope="col">{t.name}</th>
          <th scope="col">{t.tables}</th>
          <th scope="col">{t.sources}</th>
          <th scope="col">{t.owner}</th>
          <th scope="col">{t.changed}</th>
        </tr>
      </thead>
      <tbody>
        {workbooks.map(({ id, title, counts, owner, updated_at, governed, visibility }) => (
          <tr key={id}>
            <td>
              <Link to={addressOf('workbooks', id)}>{title}</Link> {governed && <span className="mark">{t.governed}</span>}{' '}
              {visibility === 'private' && <span className="mark">{t.private}</span>}
            </td>
            <td>{formatNumber(counts.tables)}</td>
            <td>{formatNumber(counts.sources)}</td>
            <td>{owner.name ?? owner.email}</td>
            <td>{formatTime(updated_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const t = useWords(workbooksWords);
  const common = useWords(commonWords);
  const queries = useQueryClient();
  const { go } = usePlace();
  const [error, setError] = useState<unknown>(null);
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const title = String(new FormData(event.currentTarget).get('title')).trim();
    try {
      const { id } = await ask(api.POST('/api/v1/workbooks', { body: { title } }));
      void queries.invalidateQueries({ queryKey: ['workbooks'] });
      onClose();
      go(addressOf('workbooks', id));
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <Dialog title={t.create} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void create(event)}>
        <label>
          {t.name}
          <input name="title" required maxLength={200} autoFocus />
        </label>
        {error !== null && <ProblemNote error={error} />}
        <div className="row">
          <button type="submit" className="main">
            {t.create}
          </button>
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
