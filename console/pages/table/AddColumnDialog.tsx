import { type FormEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Dialog } from '../../parts/Dialog.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { commonWords } from '../../parts/words.ts';
import { columnTypes } from './columnTypes.ts';
import type { RowStore } from './rowStore.ts';
import type { Editing } from './useEditing.ts';
import { tableWords } from './words.ts';

interface AddColumnProps {
  workbookId: string;
  name: string;
  store: RowStore;
  editing: Editing;
  onClose: () => void;
}

export function AddColumnDialog({ workbookId, name, store, editing, onClose }: AddColumnProps) {
  const t = useWords(tableWords);
  const common = useWords(commonWords);
  const [error, setError] = useState<unknown>(null);
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    try {
      await ask(
        api.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/columns', {
          params: { path: { workbook_id: workbookId, name } },
          body: { column: String(fields.get('column')).trim(), type: String(fields.get('type')), expected_version: store.version },
        }),
      );
      editing.reload();
      onClose();
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <Dialog title={t.addColumn} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void add(event)}>
        <label>
          {t.columnName}
          <input name="column" required maxLength={200} />
        </label>
        <label>
          {t.columnType}
          <select name="type">
            {columnTypes.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </label>
        {error !== null && <ProblemNote error={error} />}
        <div className="row">
          <button type="submit" className="main">
            {t.addColumn}
          </button>
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
