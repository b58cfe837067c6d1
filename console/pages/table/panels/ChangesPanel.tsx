import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../../api/client.ts';
import { useSpeech, useWords } from '../../../i18n/language.tsx';
import { Answer } from '../../../parts/Answer.tsx';
import { actionWords } from '../../workbook/actions.ts';
import { inWorkbook } from '../../workbook/asks.ts';
import type { Editing } from '../useEditing.ts';
import { panelWords } from './words.ts';

interface ChangesProps {
  workbookId: string;
  name: string;
  version: number | null;
  editing: Editing;
}

/** What was done to the table, newest first. */
export function ChangesPanel({ workbookId, name, version, editing }: ChangesProps) {
  const t = useWords(panelWords);
  const actions = useWords(actionWords);
  const { formatTime } = useSpeech();
  const ops = useQuery({
    queryKey: inWorkbook(workbookId, 'ops', version),
    queryFn: () =>
      ask(api.GET('/api/v1/workbooks/{workbook_id}/ops', { params: { path: { workbook_id: workbookId }, query: { limit: 200 } } })),
    placeholderData: (before) => before,
  });
  return (
    <Answer of={ops}>
      {({ ops }) => {
        const own = ops.filter(({ table }) => table === name);
        if (own.length === 0) return <p className="dim">{t.changed}</p>;
        return (
          <ul className="plain-list">
            {own.map(({ op_id: opId, kind, actor, edit_version: made, created_at: at, undoable, undone_by: undoneBy }) => (
              <li key={opId} className="row tight">
                <span className="mark">{actions[kind] ?? kind}</span> {actor}
                <small className="dim">
                  {made !== null && `v${made} · `}
                  {formatTime(at)}
                </small>
                {undoneBy !== null && <small className="dim">{t.undone}</small>}
                {undoable && undoneBy === null && (
                  <button type="button" className="plain end" onClick={() => void editing.undoOp(opId)}>
                    {t.undo}
                  </button>
                )}
              </li>
            ))}
          </ul>
        );
      }}
    </Answer>
  );
}
