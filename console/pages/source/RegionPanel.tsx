import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { workbookWords } from '../workbook/words.ts';
import { formatRange, type Range } from './a1.ts';
import { RegionForm } from './RegionForm.tsx';
import { type Region, type Sheet, withHeaders } from './spec.ts';
import type { Corrections } from './useCorrections.ts';
import { sourceWords } from './words.ts';

interface RegionPanelProps {
  workbookId: string;
  source: Schemas['Source'];
  sheet: Sheet & { name: string };
  regions: Region[];
  region: Region | null;
  corrections: Corrections;
  selected: Range | null;
  onChoose: (id: string) => void;
}

/** What was understood, and its correction. */
export function RegionPanel({ source, sheet, regions, region, corrections, selected, onChoose }: RegionPanelProps) {
  const t = useWords(sourceWords);
  const w = useWords(workbookWords);
  const { say } = useNotices();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  const addRegion = () => {
    if (!selected) return;
    const id = `r${Date.now().toString(36)}`;
    const made: Region = {
      id,
      sheet: sheet.name,
      range: formatRange(selected),
      kind: 'data',
      name: `${source.name.replace(/\.[^.]+$/, '')}_${formatRange(selected).replace(':', '_')}`,
      header_rows: [selected.top],
      data_range: formatRange(selected),
      orientation: 'rows',
      columns: [],
      selected: true,
    };
    corrections.add(withHeaders(made, [selected.top], sheet));
    onChoose(id);
  };
  const canCorrect = corrections.regions !== null;
  return (
    <section className="regions">
      <div className="row">
        <h3>{t.understood}</h3>
        {source.structuring && <span className="mark">{w.structuring[source.structuring]}</span>}
      </div>
      {source.structuring_reason && <p className="dim">{source.structuring_reason}</p>}
      <ul className="plain-list region-list">
        {regions.map(({ id, kind, name, range }) => (
          <li key={id}>
            <button type="button" className={`region ${kind}`} aria-pressed={region?.id === id} onClick={() => onChoose(id)}>
              <span className="mark">{t.kinds[kind]}</span> {name ?? ''} <small className="dim">{range}</small>
            </button>
          </li>
        ))}
      </ul>
      {!canCorrect && (
        <>
          <p className="dim">{t.analyzeHint}</p>
          <button type="button" disabled={busy} onClick={() => void run(corrections.analyze)}>
            {busy ? t.analyzing : t.analyze}
          </button>
        </>
      )}
      {canCorrect && (
        <div className="row">
          <button type="button" disabled={!selected} onClick={addRegion}>
            {t.newRegion}
          </button>
          {corrections.isChanged && (
            <button type="button" onClick={corrections.reset}>
              {t.reset}
            </button>
          )}
        </div>
      )}
      {canCorrect && region && (
        <>
          <RegionForm key={region.id} region={region} sheet={sheet} selected={selected} onChange={corrections.change} />
          {(region.kind === 'data' || region.kind === 'report') && (
            <button
              type="button"
              className="main"
              disabled={busy}
              onClick={() => void run(async () => say(t.applied((await corrections.apply(region.id)).join(', '))))}
            >
              {busy ? t.applying : t.apply}
            </button>
          )}
        </>
      )}
      {error !== null && <ProblemNote error={error} />}
    </section>
  );
}
