import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { cancelJob, type Job, measureProgress } from '../../api/jobs.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { addressOf, Link } from '../../shell/router.tsx';
import { workbooksWords } from './words.ts';

const isOver = ({ status }: Job) => status === 'succeeded' || status === 'failed';

/** What has run lately, and how far what runs is. */
export function JobList({ workbookId }: { workbookId?: string }) {
  const t = useWords(workbooksWords);
  const jobs = useQuery({
    queryKey: ['jobs'],
    queryFn: () => ask(api.GET('/api/v1/jobs', { params: { query: { limit: 100 } } })),
    // Only while something moves.
    refetchInterval: ({ state }) => (state.data?.jobs.every(isOver) === false ? 1_500 : 20_000),
  });
  return (
    <section>
      <h2>{t.jobs}</h2>
      <Answer of={jobs}>
        {({ jobs }) => {
          const own = jobs.filter((job) => workbookId === undefined || job.workbook_id === workbookId);
          // Pages of files have their tables reviewed by themselves; what is done of that would drown the rest.
          const shown = own.filter((job) => job.kind !== 'review' || job.status !== 'succeeded');
          return shown.length === 0 ? (
            <p className="dim">{t.noJobs}</p>
          ) : (
            <ul className="plain-list">
              {shown.slice(0, 10).map((job) => (
                <JobItem key={job.job_id} job={job} />
              ))}
            </ul>
          );
        }}
      </Answer>
    </section>
  );
}

function JobItem({ job }: { job: Job }) {
  const t = useWords(workbooksWords);
  const { formatTime } = useSpeech();
  const { fail } = useNotices();
  const progress = measureProgress(job.progress);
  const what = t.kinds[job.kind] ?? job.kind;
  return (
    <li className="row">
      <span className={`mark ${job.status}`}>{t.states[job.status] ?? job.status}</span>
      {job.workbook_id ? <Link to={addressOf('workbooks', job.workbook_id)}>{what}</Link> : <span>{what}</span>}
      {job.kind === 'ingest' && job.result && <span>{job.result.source.filename}</span>}
      {!isOver(job) && <progress aria-label={what} {...(progress === null ? {} : { value: progress })} />}
      {!isOver(job) && (
        <button type="button" className="plain" onClick={() => void cancelJob(job.job_id).catch(fail)}>
          {t.cancel}
        </button>
      )}
      {job.error && <span className="bad">{job.error}</span>}
      <small className="dim end">{formatTime(job.finished_at ?? job.created_at)}</small>
    </li>
  );
}
