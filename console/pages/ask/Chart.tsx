import { useEffect, useRef, useState } from 'react';
import { parse, View } from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile, type TopLevelSpec } from 'vega-lite';
import { readColor } from '../../grid/theme.ts';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import type { Choice } from './chartChoice.ts';

interface ChartProps {
  label: string;
  choice: Choice;
  columns: { name: string; type: string }[];
  rows: Record<string, unknown>[];
}

/** A chart of the rows by Vega-Lite. Its expressions are interpreted: the page's policy lets nothing be compiled. */
export default function Chart({ label, choice, columns, rows }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    let view: View | null = null;
    const draw = () => {
      view?.finalize();
      try {
        const { spec } = compile(makeSpec(choice, columns, rows, element.clientWidth));
        view = new View(parse(spec, {}, { ast: true }), {
          renderer: 'canvas',
          container: element,
          expr: expressionInterpreter,
          hover: true,
        });
        setError(null);
        void view.runAsync();
      } catch (caught) {
        setError(caught);
      }
    };
    draw();
    addEventListener('themechange', draw);
    return () => {
      removeEventListener('themechange', draw);
      view?.finalize();
    };
  }, [choice, columns, rows]);
  return (
    <>
      {error !== null && <ProblemNote error={error} />}
      <div ref={box} className="chart" role="img" aria-label={label} />
    </>
  );
}

const kindOf = (type: string | undefined) =>
  /^(DATE|TIMESTAMP)/i.test(type ?? '')
    ? 'temporal'
    : /^(BIGINT|DOUBLE|DECIMAL|INTEGER|HUGEINT|FLOAT)/i.test(type ?? '')
      ? 'quantitative'
      : 'nominal';

function makeSpec(
  { mark, x, y, color, sum }: Choice,
  columns: ChartProps['columns'],
  rows: ChartProps['rows'],
  width: number,
): TopLevelSpec {
  const typeOf = (name: string) => kindOf(columns.find((column) => column.name === name)?.type);
  // Names may have dots and brackets, which Vega-Lite would read as paths.
  const fields = new Map(columns.map(({ name }, i) => [name, `c${i}`]));
  const values = rows.map((row) =>
    Object.fromEntries(columns.map(({ name }) => [fields.get(name), typeOf(name) === 'quantitative' ? toNumber(row[name]) : row[name]])),
  );
  const channel = (name: string) => ({ field: fields.get(name) as string, type: typeOf(name), title: name }) as const;
  const value = { ...channel(y), type: 'quantitative' as const, ...(sum === 'none' ? {} : { aggregate: sum as 'sum' }) };
  const [ink, line] = [readColor('ink'), readColor('line')];
  const encoding =
    mark === 'arc'
      ? { theta: value, color: { ...channel(x), type: 'nominal' as const } }
      : {
          x: { ...channel(x), ...(mark === 'bar' && typeOf(x) === 'quantitative' ? { type: 'ordinal' as const } : {}) },
          y: value,
          ...(color ? { color: channel(color) } : {}),
        };
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    width: Math.max(200, width - 140),
    height: 320,
    data: { values },
    mark: { type: mark, tooltip: true } as TopLevelSpec extends { mark: infer M } ? M : never,
    encoding,
    background: 'transparent',
    config: {
      axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line },
      legend: { labelColor: ink, titleColor: ink },
      view: { stroke: line },
      font: 'system-ui, sans-serif',
    },
  } as TopLevelSpec;
}

const toNumber = (value: unknown) => (value === null || value === undefined ? null : Number(value));
