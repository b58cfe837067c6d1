import { asSentence } from '../../core/errors.ts';
import { PythonFault } from './pythonFault.ts';

/** What the limits of a run are called in its refusals. */
export interface RunLimits {
  timeoutMs: number;
  memoryBytes: number;
}

export interface PythonColumn {
  name: string;
  /** A type of tables: VARCHAR, BIGINT, DOUBLE, DECIMAL(p,s), BOOLEAN, DATE, TIMESTAMP, TIME or JSON. */
  type: string;
}

export interface Done {
  columns: PythonColumn[];
  rowCount: number;
}

/** How the process of a template ended: its exit code, or its signal as a negative number. Null: it was ended, for it took too long. */
export type Ended = number | null;

/** Reads what the process of a template has left. A template can write any refusal itself: no member of it is trusted. */
export function readReport(ended: Ended, body: Buffer, limits: RunLimits): Done {
  if (ended === null) throw tookTooLong(limits);
  const report = ended === 0 ? parse(body) : null;
  if (!report) throw explainEnd(ended, limits);
  if (report.kind === 'done') return readDone(report);
  throw explainRefusal(report, limits);
}

type Report = Record<string, unknown>;

function parse(body: Buffer): Report | null {
  try {
    const report = JSON.parse(body.toString('utf8')) as unknown;
    return typeof report === 'object' && report !== null && !Array.isArray(report) ? (report as Report) : null;
  } catch {
    return null;
  }
}

const isType = /^(?:VARCHAR|BIGINT|DOUBLE|BOOLEAN|DATE|TIMESTAMP|TIME|JSON|DECIMAL\((?:[1-9]|[12]\d|3[0-8]),(?:\d|[12]\d|3[0-8])\))$/;

function readDone({ columns, rowCount }: Report): Done {
  const isColumn = (column: Partial<PythonColumn> | null) => typeof column?.name === 'string' && isType.test(String(column.type));
  const isRight = Array.isArray(columns) && columns.every(isColumn) && Number.isSafeInteger(rowCount) && Number(rowCount) >= 0;
  if (!isRight) throw endedItself();
  return { columns: (columns as PythonColumn[]).map(({ name, type }) => ({ name, type })), rowCount: Number(rowCount) };
}

function explainRefusal(report: Report, limits: RunLimits): PythonFault {
  const message = asSentence(textOf(report.message));
  switch (report.kind) {
    case 'syntax':
      return new PythonFault('query-failed', `${textOf(report.message)}${describePlace(report)}.`, 'Correct the syntax of the template.');
    case 'function':
    case 'parameters':
      return new PythonFault('query-failed', message, 'Define `def transform(arg, …)` with one parameter for each of args.');
    case 'returned':
      return new PythonFault(
        'query-failed',
        `transform returned ${textOf(report.message)}, not a pandas DataFrame.`,
        'Return a DataFrame; a Series becomes one by .to_frame() or .reset_index().',
      );
    case 'raised': {
      const what = `${textOf(report.type)} was raised${describePlace(report)}`;
      const withoutValues = asSentence(what);
      const detail = message === '.' ? withoutValues : `${what}: ${message}`;
      return new PythonFault('query-failed', detail, 'Correct the template; the line is that of the template.', { withoutValues });
    }
    case 'unfit':
      return new PythonFault('query-failed', message, textOf(report.fix), {
        withoutValues: 'A column of the returned frame does not fit into a table.',
      });
    case 'large':
      return new PythonFault('query-too-large', message, 'Return fewer rows or columns, or shorter values.');
    case 'printed':
      return new PythonFault('query-too-large', message, 'Take out what prints; it goes nowhere.');
    case 'memory':
      return tookTooMuch(limits);
    default:
      return endedItself();
  }
}

const mostText = 2_000;

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, mostText) : '');

function describePlace({ line, column }: Report): string {
  if (!Number.isSafeInteger(line)) return '';
  return Number.isSafeInteger(column) ? ` (line ${line}, column ${column})` : ` in line ${line}`;
}

const [abort, bus, kill, outOfTime] = [-6, -7, -9, -24];

function explainEnd(ended: number, limits: RunLimits): PythonFault {
  if (ended === outOfTime) return tookTooLong(limits);
  if (ended === bus || ended === kill) return tookTooMuch(limits);
  if (ended === abort) return wasAborted(limits);
  if (ended >= 0) return endedItself();
  return new PythonFault(
    'query-failed',
    `Python crashed (signal ${-ended}).`,
    'Leave out what reaches around pandas, such as ctypes or very deep recursion.',
  );
}

function wasAborted({ memoryBytes }: RunLimits): PythonFault {
  const detail = `Python was aborted by one of its libraries: it needs more than the ${showMemory(memoryBytes)} that a template may take, or a thread, of which it may start none.`;
  return new PythonFault('query-failed', detail, 'Use the operations of pandas, or pass use_threads=False to those of pyarrow.');
}

const showMemory = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB of memory`;

function endedItself(): PythonFault {
  return new PythonFault('query-failed', 'The template ended its process without returning a frame.', 'Return a DataFrame from transform.');
}

export function tookTooLong({ timeoutMs }: RunLimits, cause?: unknown): PythonFault {
  const detail = `The template took longer than the ${timeoutMs / 1000} seconds that it may take.`;
  return new PythonFault('query-timeout', detail, 'Filter the tables first, and use operations over whole columns instead of loops.', {
    cause,
  });
}

export function tookTooMuch({ memoryBytes }: RunLimits, cause?: unknown): PythonFault {
  const detail = `The template needs more than the ${showMemory(memoryBytes)} that it may take.`;
  return new PythonFault('query-too-large', detail, 'Filter the tables first, and drop columns that are not needed.', {
    cause,
  });
}
