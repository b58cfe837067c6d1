import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, type Schemas } from '../../api/client.ts';
import { awaitJob, measureProgress } from '../../api/jobs.ts';
import { useWords } from '../../i18n/language.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { inWorkbook } from '../workbook/asks.ts';
import { tableWords } from './words.ts';

/** Says that the table is out of date, and makes it new. */
export function Freshness({ workbookId, table }: { workbookId: string; table: Schemas['Table'] }) {
  const t = useWords(tableWords);
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const [progress, setProgress] = useState<number | null | undefined>(undefined);
  if (!table.freshness.stale) return null;
  const isRunning = progress !== undefined;

  const recompute = async () => {
    setProgress(null);
    try {
      const answer = await ask(api.POST('/api/v1/workbooks/{workbook_id}/recompute', { params: { path: { workbook_id: workbookId } } }));
      const result = 'job_id' in answer ? await followRecompute(answer.job_id, setProgress) : answer;
      say(t.recomputed(result.recomputed.length));
      for (const { name, error } of result.failed) fail(new Error(`${name}: ${error}`));
    } catch (error) {
      fail(error);
    }
    setProgress(undefined);
    void queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
  };
  return (
    <div className="note row">
      {t.stale}
      <button type="button" disabled={isRunning} onClick={() => void recompute()}>
        {isRunning ? t.recomputing : t.recompute}
      </button>
      {isRunning && <progress aria-label={t.recomputing} {...(progress === null ? {} : { value: progress })} />}
    </div>
  );
}

async function followRecompute(jobId: string, onProgress: (progress: number | null) => void) {
  const job = await awaitJob(jobId, ({ progress }) => onProgress(measureProgress(progress)));
  if (job.status === 'failed' || job.kind !== 'recompute' || !job.result) throw new Error(job.error ?? job.status);
  return job.result;
}
