import { api, ask } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { FormDialog, readField } from '../../parts/FormDialog.tsx';
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
  const add = async (fields: FormData) => {
    await ask(
      api.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/columns', {
        params: { path: { workbook_id: workbookId, name } },
        body: { column: readField(fields, 'column'), type: readField(fields, 'type'), expected_version: store.version },
      }),
    );
    editing.reload();
  };
  return (
    <FormDialog title={t.addColumn} onSubmit={add} onClose={onClose}>
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
    </FormDialog>
  );
}
