import { useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { settingsWords } from './words.ts';

const shownDays = 30;

/** How much was used, day by day. */
export default function UsageSection() {
  const t = useWords(settingsWords);
  const { formatBytes, formatNumber } = useSpeech();
  const usage = useQuery({
    queryKey: ['usage'],
    queryFn: () => ask(api.GET('/api/control/account/usage/series', { params: { query: { days: shownDays } } })),
  });
  return (
    <Answer of={usage}>
      {({ series: known }) => {
        const series = fillDays(known);
        return (
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
              note={known.every(({ storage_bytes: bytes }) => bytes === null) ? t.notMeasured : null}
            />
          </>
        );
      }}
    </Answer>
  );
}

type Day = Schemas['UsageDay'];

/** Days before the first one that is known had nothing: a new account has one bar at the end, not one across. */
function fillDays(known: Day[]): Day[] {
  const last = known.at(-1);
  if (!last) return [];
  return Array.from({ length: shownDays }, (_, i) => {
    const date = new Date(Date.parse(last.date) - (shownDays - 1 - i) * 86_400_000).toISOString().slice(0, 10);
    return known.find((day) => day.date === date) ?? { ...last, date, requests: 0, ops: 0, credits: 0, storage_bytes: 0 };
  });
}

interface DayChartProps {
  label: string;
  days: { date: string; value: number }[];
  format: (value: number) => string;
  /** Said in place of the greatest value. */
  note?: string | null;
}

function DayChart({ label, days, format, note = null }: DayChartProps) {
  const t = useWords(settingsWords);
  const most = Math.max(0, ...days.map(({ value }) => value));
  const width = 100 / Math.max(1, days.length);
  return (
    <figure className="days">
      <figcaption>
        {label} <span className="dim">{note ?? t.most(format(most))}</span>
      </figcaption>
      <svg viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={label}>
        {days.map(({ date, value }, i) => (
          <rect
            key={date}
            x={i * width}
            width={width * 0.8}
            y={20 - (19 * value) / Math.max(1, most)}
            height={(19 * value) / Math.max(1, most)}
          >
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
