import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { FormDialog, readField } from '../../parts/FormDialog.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { usePlace } from '../../shell/router.tsx';
import { inWorkbook } from './asks.ts';
import { workbookWords } from './words.ts';

/** What can be done with the workbook as a whole. */
export function WorkbookMenu({ workbookId, title }: { workbookId: string; title: string }) {
  const t = useWords(workbookWords);
  const queries = useQueryClient();
  const { go } = usePlace();
  const { fail } = useNotices();
  const [isRenaming, setRenaming] = useState(false);
  const params = { path: { workbook_id: workbookId } };
  const rename = async (fields: FormData) => {
    await ask(api.PATCH('/api/v1/workbooks/{workbook_id}', { params, body: { title: readField(fields, 'title') } }));
    void queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
    void queries.invalidateQueries({ queryKey: ['workbooks'] });
  };
  const remove = async () => {
    if (!confirm(t.removeSure(title))) return;
    try {
      await tell(api.DELETE('/api/v1/workbooks/{workbook_id}', { params }));
      go('/workbooks', { replace: true });
      queries.removeQueries({ queryKey: inWorkbook(workbookId) });
      void queries.invalidateQueries({ queryKey: ['workbooks'] });
    } catch (error) {
      fail(error);
    }
  };
  return (
    <div className="row">
      <button type="button" onClick={() => setRenaming(true)}>
        {t.rename}
      </button>
      <button type="button" className="danger" onClick={() => void remove()}>
        {t.remove}
      </button>
      {isRenaming && (
        <FormDialog title={t.rename} onSubmit={rename} onClose={() => setRenaming(false)}>
          <label>
            {t.tableName}
            <input name="title" defaultValue={title} required maxLength={200} />
          </label>
        </FormDialog>
      )}
    </div>
  );
}
