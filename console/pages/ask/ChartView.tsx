import { lazy, Suspense, useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { usePlace } from '../../shell/router.tsx';
import { type Choice, marks, readChoice, sums } from './chartChoice.ts';
import { askWords } from './words.ts';

const Chart = lazy(() => import('./Chart.tsx'));

/** A chart of the result by a few clicks. */
export function ChartView({ result }: { result: Schemas['QueryResult'] }) {
  const t = useWords(askWords);
  const { query, setQuery } = usePlace();
  const names = result.columns.map(({ name }) => name);
  const choice = useMemo(() => readChoice(query, result.columns), [query, result.columns]);
  const set = (part: Partial<Choice>) => setQuery(part);
  const label = t.chartOf(choice.x, choice.y);
  const save = () => {
    const canvas = document.querySelector<HTMLCanvasElement>('.chart canvas');
    const link = document.createElement('a');
    link.href = canvas?.toDataURL() ?? '';
    link.download = `${label}.png`;
    link.click();
  };
  return (
    <>
      <div className="row">
        <Pick
          label={t.mark}
          value={choice.mark}
          options={marks.map((each) => [each, t.marks[each] ?? each])}
          onPick={(mark) => set({ mark: mark as Choice['mark'] })}
        />
        <Pick label={t.x} value={choice.x} options={names.map((each) => [each, each])} onPick={(x) => set({ x })} />
        <Pick label={t.y} value={choice.y} options={names.map((each) => [each, each])} onPick={(y) => set({ y })} />
        <Pick
          label={t.sum}
          value={choice.sum}
          options={sums.map((each) => [each, t.sums[each] ?? each])}
          onPick={(sum) => set({ sum: sum as Choice['sum'] })}
        />
        {choice.mark !== 'arc' && (
          <Pick
            label={t.color}
            value={choice.color}
            options={[['', t.nothing], ...names.map((each): [string, string] => [each, each])]}
            onPick={(color) => set({ color })}
          />
        )}
        <button type="button" onClick={save}>
          {t.download}
        </button>
      </div>
      <Suspense fallback={null}>
        <Chart label={label} choice={choice} columns={result.columns} rows={result.rows as Record<string, unknown>[]} />
      </Suspense>
    </>
  );
}

interface PickProps {
  label: string;
  value: string;
  options: [string, string][];
  onPick: (value: string) => void;
}

function Pick({ label, value, options, onPick }: PickProps) {
  return (
    <label className="row tight">
      <span className="dim">{label}</span>
      <select value={value} onChange={(event) => onPick(event.target.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
