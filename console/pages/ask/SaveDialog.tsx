import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { awaitJob } from '../../api/jobs.ts';
import { useWords } from '../../i18n/language.tsx';
import { Dialog } from '../../parts/Dialog.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { commonWords } from '../../parts/words.ts';
import { addressOf, usePlace } from '../../shell/router.tsx';
import { inWorkbook } from '../workbook/asks.ts';
import { toTemplate } from './toTemplate.ts';
import { askWords } from './words.ts';

interface SaveProps {
  workbookId: string;
  sql: string;
  tables: string[];
  onClose: () => void;
}

/** Keeps the query as a transform, whose output is a table. */
export function SaveDialog({ workbookId, sql, tables, onClose }: SaveProps) {
  const t = useWords(askWords);
  const common = useWords(commonWords);
  const queries = useQueryClient();
  const { go } = usePlace();
  const { say } = useNotices();
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const name = String(fields.get('name')).trim();
    const key = String(fields.get('key'))
      .split(/[,、]/)
      .map((each) => each.trim())
      .filter(Boolean);
    setBusy(true);
    setError(null);
    try {
      const answer = await ask(
        api.POST('/api/v1/workbooks/{workbook_id}/transforms', {
          params: { path: { workbook_id: workbookId } },
          body: {
            name,
            language: 'sql',
            ...toTemplate(sql, tables),
            output: name,
            key: key.length > 0 ? key : null,
            materialize: fields.get('view') ? 'view' : 'table',
          },
        }),
      );
      if ('job_id' in answer) {
        const job = await awaitJob(answer.job_id, () => {});
        if (job.status === 'failed') throw new Error(job.error);
      }
      void queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
      say(t.savedAs(name), { label: t.open, run: () => go(addressOf('workbooks', workbookId, 'tables', name)) });
      onClose();
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return (
    <Dialog title={t.save} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void save(event)}>
        <p className="dim">{t.saveHint}</p>
        <label>
          {t.name}
          <input name="name" required maxLength={200} />
        </label>
        <label>
          {t.key}
          <input name="key" />
        </label>
        <label className="check">
          <input name="view" type="checkbox" />
          {t.view}
        </label>
        {error !== null && <ProblemNote error={error} />}
        <div className="row">
          <button type="submit" className="main" disabled={isBusy}>
            {common.save}
          </button>
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
