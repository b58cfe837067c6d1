import { useQueryClient } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { FormDialog, readField } from '../../parts/FormDialog.tsx';
import { addressOf, usePlace } from '../../shell/router.tsx';
import { inWorkbook } from './asks.ts';
import { workbookWords } from './words.ts';

export function CreateTableDialog({ workbookId, onClose }: { workbookId: string; onClose: () => void }) {
  const t = useWords(workbookWords);
  const queries = useQueryClient();
  const { go } = usePlace();
  const create = async (fields: FormData) => {
    const name = readField(fields, 'name');
    await ask(
      api.POST('/api/v1/workbooks/{workbook_id}/tables', {
        params: { path: { workbook_id: workbookId } },
        body: { name, columns: readColumns(readField(fields, 'columns')) },
      }),
    );
    void queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
    go(addressOf('workbooks', workbookId, 'tables', name));
  };
  return (
    <FormDialog title={t.newTable} onSubmit={create} onClose={onClose}>
      <label>
        {t.tableName}
        <input name="name" required maxLength={200} />
      </label>
      <label>
        {t.columns}
        <textarea name="columns" required rows={5} />
        <small className="dim">{t.columnsHint}</small>
      </label>
    </FormDialog>
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
