import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, type Schemas } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Empty } from '../../parts/Empty.tsx';
import { FormDialog, readField } from '../../parts/FormDialog.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
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
    <ListTable heads={[t.name, t.tables, t.sources, t.owner, t.changed]} numbers={[t.tables, t.sources]}>
      {workbooks.map(({ id, title, counts, owner, updated_at, governed, visibility }) => (
        <tr key={id}>
          <td>
            <Link to={addressOf('workbooks', id)}>{title}</Link> {governed && <span className="mark">{t.governed}</span>}{' '}
            {visibility === 'private' && <span className="mark">{t.private}</span>}
          </td>
          <td className="number">{formatNumber(counts.tables)}</td>
          <td className="number">{formatNumber(counts.sources)}</td>
          <td>{owner.name ?? owner.email}</td>
          <td>{formatTime(updated_at)}</td>
        </tr>
      ))}
    </ListTable>
  );
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const t = useWords(workbooksWords);
  const queries = useQueryClient();
  const { go } = usePlace();
  const create = async (fields: FormData) => {
    const { id } = await ask(api.POST('/api/v1/workbooks', { body: { title: readField(fields, 'title') } }));
    void queries.invalidateQueries({ queryKey: ['workbooks'] });
    go(addressOf('workbooks', id));
  };
  return (
    <FormDialog title={t.create} onSubmit={create} onClose={onClose}>
      <label>
        {t.name}
        <input name="title" required maxLength={200} />
      </label>
    </FormDialog>
  );
}
