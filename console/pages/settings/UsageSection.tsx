import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { settingsWords } from './words.ts';

/** How much was used, day by day. */
export default function UsageSection() {
  const t = useWords(settingsWords);
  const { formatBytes, formatNumber } = useSpeech();
  const usage = useQuery({
    queryKey: ['usage'],
    queryFn: () => ask(api.GET('/api/control/account/usage/series', { params: { query: { days: 30 } } })),
  });
  return (
    <Answer of={usage}>
      {({ series }) => (
        <>
          <DayChart
            label={t.perDay(t.requests)}
            days={series.map(({ date, requests }) => ({ date, value: requests }))}
            format={formatNumber}
          />
          <DayChart label={t.perDay(t.ops)} days={series.map(({ date, ops }) => ({ date, value: ops }))} format={formatNumber} />
          <DayChart
            label={t.perDay(t.credits)}
            days={series.map(({ date, credits }) => ({ date, value: credits }))}
            format={formatNumber}
          />
          <DayChart
            label={t.storage}
            days={series.map(({ date, storage_bytes: bytes }) => ({ date, value: bytes ?? 0 }))}
            format={formatBytes}
          />
        </>
      )}
    </Answer>
  );
}

interface DayChartProps {
  label: string;
  days: { date: string; value: number }[];
  format: (value: number) => string;
}

function DayChart({ label, days, format }: DayChartProps) {
  const most = Math.max(1, ...days.map(({ value }) => value));
  const width = 100 / Math.max(1, days.length);
  return (
    <figure className="days">
      <figcaption>
        {label} <span className="dim">≤ {format(most)}</span>
      </figcaption>
      <svg viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={label}>
        {days.map(({ date, value }, i) => (
          <rect key={date} x={i * width} width={width * 0.8} y={20 - (19 * value) / most} height={(19 * value) / most}>
            <title>{`${date}: ${format(value)}`}</title>
          </rect>
        ))}
      </svg>
      <div className="row dim">
        <small>{days[0]?.date}</small>
        <small className="end">{days.at(-1)?.date}</small>
      </div>
    </figure>
  );
}
