import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { workbookWords } from '../workbook/words.ts';
import { formatRange, type Range } from './a1.ts';
import { RegionForm } from './RegionForm.tsx';
import { isUnsure, makesTable, type Region, type Sheet, withHeaders } from './spec.ts';
import type { Corrections } from './useCorrections.ts';
import { sourceWords } from './words.ts';

interface RegionPanelProps {
  source: Schemas['Source'];
  sheet: Sheet & { name: string };
  regions: Region[];
  region: Region | null;
  /** The region as it was proposed or kept. */
  proposed: Region | null;
  corrections: Corrections;
  /** Set if the sheet was read as one that was corrected before. */
  learned: Schemas['LearnedSheet'] | undefined;
  selected: Range | null;
  onChoose: (id: string) => void;
}

/** What was understood, and its correction. */
export function RegionPanel({ source, sheet, regions, region, proposed, corrections, learned, selected, onChoose }: RegionPanelProps) {
  const t = useWords(sourceWords);
  const w = useWords(workbookWords);
  const { say } = useNotices();
  const { formatTime } = useSpeech();
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
  const apply = async (id: string) => {
    const isCorrected = corrections.isChanged;
    const made = t.applied((await corrections.apply(id)).join(', '));
    say(isCorrected ? `${made} ${t.remembered}` : made);
  };
  const keep = async () => {
    await corrections.keep();
    say(t.kept);
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
      {learned && <p className="note">{t.learned(formatTime(learned.corrected_at))}</p>}
      <ul className="plain-list region-list">
        {regions.map((each) => (
          <li key={each.id}>
            <button type="button" className={`region ${each.kind}`} aria-pressed={region?.id === each.id} onClick={() => onChoose(each.id)}>
              <span className="mark">{t.kinds[each.kind]}</span> {each.name ?? ''} <small className="dim">{each.range}</small>{' '}
              {typeof each.confidence === 'number' && (
                <span className={isUnsure(each) ? 'mark warning' : 'dim nowrap'}>{t.sure(Math.round(each.confidence * 100))}</span>
              )}
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
      {corrections.isOvertaken && (
        <div className="note">
          {t.overtaken}
          <div className="row">
            <button type="button" onClick={corrections.resume}>
              {t.resume}
            </button>
            <button type="button" onClick={corrections.reset}>
              {t.reset}
            </button>
          </div>
        </div>
      )}
      {region && <Decisions region={region} />}
      {canCorrect && region && (
        <>
          <RegionForm key={region.id} region={region} proposed={proposed} sheet={sheet} selected={selected} onChange={corrections.change} />
          <div className="row">
            {makesTable(region) && (
              <button type="button" className="main" disabled={busy} onClick={() => void run(() => apply(region.id))}>
                {busy ? t.applying : t.apply}
              </button>
            )}
            {corrections.isChanged && (
              <button type="button" disabled={busy} onClick={() => void run(keep)}>
                {t.keep}
              </button>
            )}
          </div>
        </>
      )}
      {error !== null && <ProblemNote error={error} />}
    </section>
  );
}

/** Why the region is read as it is, and what it would be otherwise. */
function Decisions({ region }: { region: Region }) {
  const t = useWords(sourceWords);
  const { decisions = [] } = region;
  if (decisions.length === 0) return null;
  return (
    <details open={isUnsure(region)}>
      <summary>{t.why}</summary>
      <ul className="plain-list">
        {decisions.map(({ about, confidence, reason, otherwise }) => (
          <li key={about}>
            <span className="mark">{t.about[about]}</span> {reason} <small className="dim">{t.sure(Math.round(confidence * 100))}</small>
            {otherwise && <div className="dim">{t.otherwise(otherwise)}</div>}
          </li>
        ))}
      </ul>
    </details>
  );
}
