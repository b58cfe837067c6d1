import { useState } from 'react';
import { useWords } from '../../i18n/language.tsx';
import { columnTypes } from '../table/columnTypes.ts';
import { parseRange, type Range } from './a1.ts';
import { makesTable, previewRows, type Region, type Sheet, withHeaders, withKind, withLongForm, withPeriod, withRange } from './spec.ts';
import { sourceWords } from './words.ts';

interface RegionFormProps {
  region: Region;
  /** As it was proposed or kept. */
  proposed: Region | null;
  sheet: Sheet;
  selected: Range | null;
  onChange: (region: Region) => void;
}

const kinds: Region['kind'][] = ['data', 'report', 'title', 'note', 'form'];

/** Corrections of one region; what would come out is shown below. */
export function RegionForm({ region, proposed, sheet, selected, onChange }: RegionFormProps) {
  const t = useWords(sourceWords);
  const isTable = makesTable(region);
  return (
    <div className="fields region-form">
      <p className="dim">{t.dragHint}</p>
      <div className="row">
        <RangeField key={region.range} range={region.range} onRange={(range) => onChange(withRange(region, range, sheet))} />
        <button type="button" disabled={!selected} onClick={() => selected && onChange(withRange(region, selected, sheet))}>
          {t.useSelection}
        </button>
      </div>
      <div className="row">
        <label>
          {t.kind}
          <select value={region.kind} onChange={(event) => onChange(withKind(region, event.target.value as Region['kind'], sheet))}>
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {t.kinds[kind]}
              </option>
            ))}
          </select>
        </label>
        {isTable && (
          <HeaderField
            key={region.header_rows.join()}
            rows={region.header_rows}
            onRows={(rows) => onChange(withHeaders(region, rows, sheet))}
          />
        )}
        {isTable && (
          <label className="wide">
            {t.name}
            <input
              value={region.name ?? ''}
              maxLength={200}
              onChange={(event) => onChange({ ...region, name: event.target.value || null })}
            />
          </label>
        )}
      </div>
      {isTable && (
        <label className="check">
          <input
            type="checkbox"
            checked={(region.periods ?? []).length > 0}
            onChange={(event) => onChange(withLongForm(region, event.target.checked, proposed?.periods))}
          />
          {t.longForm}
        </label>
      )}
      {isTable && <ColumnFields region={region} proposed={proposed} onChange={onChange} />}
      {isTable && <PreviewTable region={region} sheet={sheet} />}
    </div>
  );
}

function RangeField({ range, onRange }: { range: string; onRange: (range: Range) => void }) {
  const t = useWords(sourceWords);
  const [text, setText] = useState(range);
  const parsed = parseRange(text.trim().toUpperCase());
  return (
    <label>
      {t.range}
      <input
        value={text}
        size={10}
        aria-invalid={parsed === null}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => parsed && text !== range && onRange(parsed)}
      />
    </label>
  );
}

function HeaderField({ rows, onRows }: { rows: number[]; onRows: (rows: number[]) => void }) {
  const t = useWords(sourceWords);
  const [text, setText] = useState(rows.join(', '));
  const apply = () => {
    const parsed = text
      .split(/[,、\s]+/)
      .map(Number)
      .filter((row) => Number.isInteger(row) && row > 0);
    if (parsed.join() !== rows.join()) onRows(parsed);
  };
  return (
    <label>
      {t.headerRows}
      <input value={text} size={6} onChange={(event) => setText(event.target.value)} onBlur={apply} />
    </label>
  );
}

function ColumnFields({ region, proposed, onChange }: Pick<RegionFormProps, 'region' | 'proposed' | 'onChange'>) {
  const t = useWords(sourceWords);
  const periods = region.periods ?? [];
  const set = (i: number, part: Partial<Region['columns'][number]>) =>
    onChange({ ...region, columns: region.columns.map((column, at) => (at === i ? { ...column, ...part } : column)) });
  return (
    <details>
      <summary>
        {t.columns} ({region.columns.length})
      </summary>
      <ul className="plain-list">
        {region.columns.map(({ name, from, type }, i) => (
          <li key={from} className="row tight">
            <code>{from}</code>
            <input aria-label={`${t.columns} ${from}`} value={name} onChange={(event) => set(i, { name: event.target.value })} />
            <select aria-label={`${t.type} ${from}`} value={type} onChange={(event) => set(i, { type: event.target.value })}>
              {[...new Set([type, ...columnTypes])].map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            {periods.length > 0 && (
              <label className="row tight">
                <input
                  type="checkbox"
                  aria-label={t.isPeriod(from)}
                  checked={periods.some((period) => period.from === from)}
                  onChange={(event) => onChange(withPeriod(region, from, event.target.checked, proposed?.periods))}
                />
                <small className="dim">{t.asRows}</small>
              </label>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function PreviewTable({ region, sheet }: { region: Region; sheet: Sheet }) {
  const t = useWords(sourceWords);
  const { names, rows } = previewRows(region, sheet, 5);
  return (
    <div className="preview">
      <h3>{t.preview}</h3>
      <table className="list">
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a picture have nothing else to be known by
            <tr key={i}>
              {row.map((text, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <td key={at}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
