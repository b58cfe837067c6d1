import { useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../../api/client.ts';
import { formatValue } from '../../../grid/format.ts';
import { useSpeech, useWords } from '../../../i18n/language.tsx';
import { Answer } from '../../../parts/Answer.tsx';
import { inWorkbook } from '../../workbook/asks.ts';
import { panelWords } from './words.ts';

/** Each column with a small picture of what is in it. */
export function ProfilePanel({ workbookId, table }: { workbookId: string; table: Schemas['Table'] }) {
  const profile = useQuery({
    queryKey: inWorkbook(workbookId, 'profile', table.name, table.edit_version),
    queryFn: () =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/profile', {
          params: { path: { workbook_id: workbookId, name: table.name } },
        }),
      ),
    placeholderData: (before) => before,
  });
  return (
    <Answer of={profile}>
      {({ columns }) => (
        <ul className="plain-list">
          {columns.map((column) => (
            <li key={column.name}>
              <ColumnProfile column={column} />
            </li>
          ))}
        </ul>
      )}
    </Answer>
  );
}

function ColumnProfile({ column }: { column: Schemas['ColumnProfile'] }) {
  const t = useWords(panelWords);
  const { formatNumber } = useSpeech();
  const { name, type, masked, distinct, null_share: nullShare, min, max, mean, histogram, top_values: top } = column;
  const bars =
    histogram.length > 0 ? histogram.map(({ from, to, count }) => ({ label: `${formatValue(from)} – ${formatValue(to)}`, count })) : [];
  return (
    <>
      <strong>{name}</strong> <small className="dim">{type}</small>
      {masked ? (
        <p className="dim">{t.masked}</p>
      ) : (
        <>
          <div className="dim">
            {distinct !== null && `${formatNumber(distinct)} ${t.distinct}`}
            {nullShare !== null && nullShare > 0 && ` · ${formatNumber(Math.round(nullShare * 1000) / 10)} % ${t.missing}`}
            {mean !== null && ` · ${t.mean} ${formatNumber(Math.round(mean * 100) / 100)}`}
          </div>
          {bars.length > 0 ? <Bars bars={bars} label={name} /> : <TopValues top={top} />}
          {bars.length > 0 && (
            <div className="row dim ends">
              <small>{formatValue(min)}</small>
              <small className="end">{formatValue(max)}</small>
            </div>
          )}
        </>
      )}
    </>
  );
}

function Bars({ bars, label }: { bars: { label: string; count: number }[]; label: string }) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const width = 100 / bars.length;
  return (
    <svg className="bars" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      {bars.map(({ label: text, count }, i) => (
        <rect key={text} x={i * width} width={width * 0.9} y={24 - (22 * count) / most} height={(22 * count) / most}>
          <title>{`${text}: ${count}`}</title>
        </rect>
      ))}
    </svg>
  );
}

function TopValues({ top }: { top: Schemas['ColumnProfile']['top_values'] }) {
  const { formatNumber } = useSpeech();
  const most = Math.max(1, ...top.map(({ count }) => count));
  return (
    <ul className="plain-list top-values">
      {top.slice(0, 5).map(({ value, count }) => (
        <li key={formatValue(value)} className="row tight">
          <meter max={most} value={count} aria-label={formatValue(value)} />
          <span>{formatValue(value)}</span>
          <small className="dim end">{formatNumber(count)}</small>
        </li>
      ))}
    </ul>
  );
}
