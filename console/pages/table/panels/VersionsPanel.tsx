import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask, type Schemas } from '../../../api/client.ts';
import { useSpeech, useWords } from '../../../i18n/language.tsx';
import { Answer } from '../../../parts/Answer.tsx';
import { useNotices } from '../../../parts/notices.tsx';
import { usePlace } from '../../../shell/router.tsx';
import { inWorkbook } from '../../workbook/asks.ts';
import type { Editing } from '../useEditing.ts';
import { DiffView } from './DiffView.tsx';
import { panelWords } from './words.ts';

interface VersionsProps {
  workbookId: string;
  table: Schemas['Table'];
  editing: Editing;
}

/** The table through time: a slider over its versions, the labels of the workbook, and the difference between two. */
export function VersionsPanel({ workbookId, table, editing }: VersionsProps) {
  const t = useWords(panelWords);
  const { formatTime } = useSpeech();
  const { query, setQuery } = usePlace();
  const { say, fail } = useNotices();
  const queries = useQueryClient();
  const newest = table.edit_version;
  const at = query.get('at') ?? '';
  const [slid, setSlid] = useState<number | null>(null);
  const versions = useQuery({
    queryKey: inWorkbook(workbookId, 'versions'),
    queryFn: () =>
      ask(api.GET('/api/v1/workbooks/{workbook_id}/versions', { params: { path: { workbook_id: workbookId }, query: { limit: 200 } } })),
  });
  /** The labels that stand on a version of this table. */
  const marks = (versions.data?.versions ?? []).flatMap(({ label, tables }) => {
    const version = tables.find((each) => each.name === table.name)?.edit_version;
    return version === undefined ? [] : [{ label, version }];
  });
  const current = slid ?? (/^\d+$/.test(at) ? Number(at) : (marks.find(({ label }) => label === at)?.version ?? newest));
  const settle = () => {
    if (slid === null) return;
    setQuery({ at: slid === newest ? null : String(slid) });
    setSlid(null);
  };
  const label = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    try {
      const text = String(new FormData(form).get('label')).trim();
      await ask(
        api.POST('/api/v1/workbooks/{workbook_id}/versions', { params: { path: { workbook_id: workbookId } }, body: { label: text } }),
      );
      form.reset();
    } catch (error) {
      fail(error);
    }
    void queries.invalidateQueries({ queryKey: inWorkbook(workbookId, 'versions') });
  };
  const revert = async (name: string) => {
    if (!confirm(t.revertSure(name))) return;
    try {
      await ask(
        api.POST('/api/v1/workbooks/{workbook_id}/versions/{label}/revert', {
          params: { path: { workbook_id: workbookId, label: name } },
        }),
      );
      say(t.reverted);
    } catch (error) {
      fail(error);
    }
    editing.reload();
  };
  return (
    <>
      <label className="slider">
        <span>
          {t.timeline} <strong>{current}</strong>{' '}
          {marks
            .filter(({ version }) => version === current)
            .map(({ label }) => (
              <span key={label} className="mark">
                {label}
              </span>
            ))}
        </span>
        <input
          type="range"
          list="labelled-versions"
          min={1}
          max={newest}
          value={current}
          onChange={(event) => setSlid(Number(event.target.value))}
          onPointerUp={settle}
          onKeyUp={settle}
          onBlur={settle}
        />
      </label>
      <datalist id="labelled-versions">
        {marks.map(({ label, version }) => (
          <option key={label} value={version} label={label} />
        ))}
      </datalist>
      <h3>{t.labels}</h3>
      <Answer of={versions}>
        {({ versions }) => (
          <ul className="plain-list">
            {versions.map((version) => (
              <li key={version.label} className="row tight">
                <strong>{version.label}</strong>
                <small className="dim">{formatTime(version.created_at)}</small>
                <button type="button" className="plain end" onClick={() => setQuery({ at: version.label })}>
                  {t.show}
                </button>
                <button type="button" className="plain" onClick={() => void revert(version.label)}>
                  {t.revert}
                </button>
              </li>
            ))}
            {versions.length === 0 && <li className="dim">{t.noLabels}</li>}
          </ul>
        )}
      </Answer>
      <form className="row tight" onSubmit={(event) => void label(event)}>
        <input name="label" aria-label={t.newLabel} placeholder={t.newLabel} required maxLength={100} />
        <button type="submit">{t.label}</button>
      </form>
      <DiffView
        workbookId={workbookId}
        name={table.name}
        newest={newest}
        labels={versions.data?.versions.map(({ label }) => label) ?? []}
      />
    </>
  );
}
