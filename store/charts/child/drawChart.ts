import { type LoggerInterface, parse, type Spec, View } from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile, type TopLevelSpec } from 'vega-lite';
import { findReachingOut } from '../../../core/charts/findReachingOut.ts';
import { DomainError, describeFirst, type ProblemItem } from '../../../core/errors.ts';
import type { ChartInput } from '../requests.ts';
import { findUnknownFields } from './findUnknownFields.ts';
import { measureByGlyphs } from './measureText.ts';

const dataName = 'table';
const mostWarnings = 10;
const longestWarning = 300;
/** Of the picture; a PNG of it takes four times as many bytes, doubled in both directions. */
const mostPixels = 4_000_000;
const mostSvgBytes = 16 * 1024 * 1024;

export interface DrawnChart {
  svg: string;
  warnings: string[];
}

measureByGlyphs();

/** Draws a chart over rows. Expressions are interpreted, never compiled to code, and nothing is loaded from anywhere. */
export async function drawChart({ config, columns }: Pick<ChartInput, 'config' | 'columns'>, rows: object[]): Promise<DrawnChart> {
  const unknown = findUnknownFields(config, columns);
  if (unknown.length > 0) throw refuse(unknown);
  const warnings = new Messages();
  const errors = new Messages();
  let svg: string;
  try {
    const { spec } = compile({ ...config, data: { name: dataName } } as TopLevelSpec, { logger: makeLogger(warnings, errors) });
    const runtime = parse(giveRows(spec as Spec, rows), undefined, { ast: true });
    const view = new View(runtime, {
      expr: expressionInterpreter,
      renderer: 'none',
      loader: refusingLoader,
      logger: makeLogger(warnings, errors),
    });
    svg = await view.toSVG();
    view.finalize();
  } catch (error) {
    throw refuse([{ pointer: '/config', detail: error instanceof Error ? error.message : String(error) }]);
  }
  if (errors.list.length > 0) throw refuse(errors.list.map((detail) => ({ pointer: '/config', detail })));
  requirePicture(svg);
  return { svg, warnings: warnings.list };
}

function giveRows(spec: Spec, rows: object[]): Spec {
  return { ...spec, data: spec.data?.map((data) => (data.name === dataName ? { ...data, values: rows } : data)) as Spec['data'] };
}

const refuseLoading = async (): Promise<never> => {
  throw new Error('a chart shows its table and loads nothing else');
};
const refusingLoader = { load: refuseLoading, sanitize: refuseLoading, http: refuseLoading, file: refuseLoading, options: {} };

/** Different messages, the first few of them. */
class Messages {
  readonly list: string[] = [];

  add(parts: readonly unknown[]): void {
    const text = parts
      .map((part) => (part instanceof Error ? part.message : String(part)))
      .join(' ')
      .slice(0, longestWarning);
    if (this.list.length < mostWarnings && !this.list.includes(text)) this.list.push(text);
  }
}

function makeLogger(warnings: Messages, errors: Messages): LoggerInterface {
  const logger = {
    level: () => logger,
    error(...parts: readonly unknown[]) {
      errors.add(parts);
      return logger;
    },
    warn(...parts: readonly unknown[]) {
      warnings.add(parts);
      return logger;
    },
    info: () => logger,
    debug: () => logger,
  } as LoggerInterface;
  return logger;
}

function requirePicture(svg: string): void {
  const [, width = '0', height = '0'] = /^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? [];
  if (svg.length > mostSvgBytes || Number(width) * Number(height) > mostPixels)
    throw new DomainError(
      'too-large',
      `The picture would be ${width} by ${height} pixels and ${svg.length} bytes long; ${mostPixels} pixels and ${mostSvgBytes} bytes are possible.`,
      'Make it smaller by width and height, or aggregate the rows.',
    );
  const found = findReachingOut(svg);
  if (found) throw refuse([{ pointer: '/config', detail: `the picture would refer to something outside: ${found}` }]);
}

function refuse(errors: ProblemItem[]): DomainError {
  return new DomainError('validation-failed', describeFirst(errors), 'Correct the Vega-Lite config; its fields are columns of the table.', {
    errors: errors.slice(0, 50),
  });
}
