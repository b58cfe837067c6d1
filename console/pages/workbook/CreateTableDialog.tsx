import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Dialog } from '../../parts/Dialog.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { commonWords } from '../../parts/words.ts';
import { addressOf, usePlace } from '../../shell/router.tsx';
import { inWorkbook } from './asks.ts';
import { workbookWords } from './words.ts';

export function CreateTableDialog({ workbookId, onClose }: { workbookId: string; onClose: () => void }) {
  const t = useWords(workbookWords);
  const common = useWords(commonWords);
  const queries = useQueryClient();
  const { go } = usePlace();
  const [error, setError] = useState<unknown>(null);
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const name = String(fields.get('name')).trim();
    try {
      await ask(
        api.POST('/api/v1/workbooks/{workbook_id}/tables', {
          params: { path: { workbook_id: workbookId } },
          body: { name, columns: readColumns(String(fields.get('columns'))) },
        }),
      );
      void queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
      onClose();
      go(addressOf('workbooks', workbookId, 'tables', name));
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <Dialog title={t.newTable} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void create(event)}>
        <label>
          {t.tableName}
          <input name="name" required autoFocus maxLength={200} />
        </label>
        <label>
          {t.columns}
          <textarea name="columns" required rows={5} />
          <small className="dim">{t.columnsHint}</small>
        </label>
        {error !== null && <ProblemNote error={error} />}
        <div className="row">
          <button type="submit" className="main">
            {t.newTable}
          </button>
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** One column a line, `name` or `name: TYPE`. */
function readColumns(text: string): { name: string; type?: string }[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [, name = line, type] = /^(.*?)\s*[:：]\s*([A-Za-z]+(?:\s*\([\d\s,]+\))?)$/.exec(line) ?? [];
      return type ? { name, type: type.toUpperCase() } : { name };
    });
}
