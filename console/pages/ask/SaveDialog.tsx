import { useQueryClient } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { awaitJob } from '../../api/jobs.ts';
import { useWords } from '../../i18n/language.tsx';
import { FormDialog, readField, splitNames } from '../../parts/FormDialog.tsx';
import { useNotices } from '../../parts/notices.tsx';
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
  const save = async (fields: FormData) => {
    const name = readField(fields, 'name');
    const key = splitNames(readField(fields, 'key'));
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
  };
  return (
    <FormDialog title={t.save} label={common.save} onSubmit={save} onClose={onClose}>
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
    </FormDialog>
  );
}
