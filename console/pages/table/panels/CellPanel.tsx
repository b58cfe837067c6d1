import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, ask, type Schemas } from '../../../api/client.ts';
import { formatValue } from '../../../grid/format.ts';
import { useSpeech, useWords } from '../../../i18n/language.tsx';
import { Answer } from '../../../parts/Answer.tsx';
import { useNotices } from '../../../parts/notices.tsx';
import { addressOf, Link } from '../../../shell/router.tsx';
import { askRowLineage, inWorkbook } from '../../workbook/asks.ts';
import { askNotes } from '../askNotes.ts';
import type { ChosenCell } from '../rowStore.ts';
import { panelWords } from './words.ts';

interface CellPanelProps {
  workbookId: string;
  table: Schemas['Table'];
  chosen: ChosenCell | null;
}

/** The chosen cell: its note, where it came from, who changed it. */
export function CellPanel({ workbookId, table, chosen }: CellPanelProps) {
  const t = useWords(panelWords);
  if (!chosen) return <p className="dim">{t.chooseCell}</p>;
  return (
    <>
      <h3>
        {chosen.column} · {t.row} {chosen.rowId}
      </h3>
      <Note workbookId={workbookId} name={table.name} cell={chosen} />
      <Origin workbookId={workbookId} name={table.name} cell={chosen} />
      <History workbookId={workbookId} table={table} cell={chosen} />
    </>
  );
}

interface CellProps {
  workbookId: string;
  name: string;
  cell: ChosenCell;
}

function Note({ workbookId, name, cell }: CellProps) {
  const t = useWords(panelWords);
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const path = { workbook_id: workbookId, name };
  const { data } = useQuery(askNotes(workbookId, name));
  const target = { row_id: cell.rowId, column: cell.column };
  const kept = data?.annotations.find(({ target: at }) => at.row_id === cell.rowId && at.column === cell.column);
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const note = String(new FormData(event.currentTarget).get('note')).trim();
    try {
      if (note === '') {
        await ask(
          api.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/annotations/delete', { params: { path }, body: { targets: [target] } }),
        );
      } else {
        const style = kept?.style ?? undefined;
        await ask(
          api.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/annotations', {
            params: { path },
            body: { annotations: [{ target, note, ...(style ? { style } : {}) }] },
          }),
        );
      }
      say(t.noteKept);
    } catch (error) {
      fail(error);
    }
    void queries.invalidateQueries({ queryKey: askNotes(workbookId, name).queryKey });
  };
  return (
    <form className="row tight" key={`${cell.rowId} ${cell.column} ${kept?.updated_at}`} onSubmit={(event) => void save(event)}>
      <input name="note" aria-label={t.note} placeholder={t.note} defaultValue={kept?.note ?? ''} maxLength={2000} />
      <button type="submit">{t.saveNote}</button>
    </form>
  );
}

function Origin({ workbookId, name, cell }: CellProps) {
  const t = useWords(panelWords);
  const lineage = useQuery(askRowLineage(workbookId, name, cell.rowId));
  return (
    <section>
      <h3>{t.origin}</h3>
      <Answer of={lineage}>
        {({ cells, inputs }) => (
          <ul className="plain-list">
            {cells.map(({ source, sheet, range, columns }) => {
              const address = addressOf('workbooks', workbookId, 'sources', source);
              const place = new URLSearchParams({ ...(sheet ? { sheet } : {}), cells: range });
              return (
                <li key={`${source} ${range}`} className={columns.includes(cell.column) ? 'lit' : ''}>
                  <Link to={`${address}?${place}`} title={t.showSheet}>
                    {source} {sheet && `· ${sheet}`} {range}
                  </Link>{' '}
                  <small className="dim">{columns.join(', ')}</small>
                </li>
              );
            })}
            {inputs.map(({ table, row_id: rowId }) => (
              <li key={`${table} ${rowId}`}>
                <Link to={`${addressOf('workbooks', workbookId, 'tables', table)}?row=${rowId}&panel=cell`}>
                  {table} · {t.row} {rowId}
                </Link>
              </li>
            ))}
            {cells.length + inputs.length === 0 && <li className="dim">{t.noOrigin}</li>}
          </ul>
        )}
      </Answer>
    </section>
  );
}

function History({ workbookId, table, cell }: { workbookId: string; table: Schemas['Table']; cell: ChosenCell }) {
  const t = useWords(panelWords);
  const { formatTime } = useSpeech();
  const history = useQuery({
    queryKey: inWorkbook(workbookId, 'history', table.name, cell.rowId, table.edit_version),
    queryFn: () =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/history', {
          params: { path: { workbook_id: workbookId, name: table.name, row_id: cell.rowId }, query: { limit: 50 } },
        }),
      ),
    placeholderData: (before) => before,
  });
  return (
    <section>
      <h3>{t.history}</h3>
      <Answer of={history}>
        {({ changes }) =>
          changes.length === 0 ? (
            <p className="dim">{t.noHistory}</p>
          ) : (
            <ul className="plain-list">
              {changes.map(({ op_id: opId, kind, actor, at, cells }) => (
                <li key={opId}>
                  <span className="mark">{t.kinds[kind]}</span> {actor} <small className="dim">{formatTime(at)}</small>
                  {cells.map(({ column, old, new: value }) => (
                    <div key={column} className={column === cell.column ? 'lit' : 'dim'}>
                      {column}: <del>{formatValue(old)}</del> → {formatValue(value)}
                    </div>
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </section>
  );
}
