import type { components } from '../../../schema/contract.ts';
import { parseRange, type Range } from './a1.ts';

type Schemas = components['schemas'];
type ParseFinding = Schemas['ParseFinding'];
type Finding = Schemas['Finding'];

/** Something that a review found, and the sheet whose cells it names. */
export interface FileFinding extends Finding {
  sheet: string | null;
}

/** Something that people should look at, whoever found it. */
export interface Doubt {
  id: string;
  severity: Finding['severity'];
  /** What was found while the file was read. */
  kind: ParseFinding['kind'] | 'unsure' | null;
  /** Null: the one that is shown. */
  sheet: string | null;
  table: string;
  message: string;
  fix: string | null;
  /** The first of the cells that it is about. */
  cells: string[];
  /** As many cells as it is about. */
  count: number;
  /** Cells that it is computed from or held against. */
  beside: string[];
}

const severities: Record<ParseFinding['kind'], Doubt['severity']> = {
  total_mismatch: 'error',
  conservation: 'error',
  not_understood: 'warning',
  stale_result: 'warning',
  forced_text: 'warning',
  no_value: 'warning',
  missing_mark: 'info',
};

/** The rules of reviews that find the same. */
const saidBy: Partial<Record<ParseFinding['kind'], string>> = { total_mismatch: 'total-mismatch', forced_text: 'mixed-types' };

/** The worst first, as they came otherwise. */
const ranks = { error: 0, warning: 1, info: 2 };
const bySeverity = (a: Doubt, b: Doubt) => ranks[a.severity] - ranks[b.severity];

/**
 * What was found while the file was read comes first, since it is there at once. What reviews find in the tables is added to it, where it
 * is not said already.
 */
export function listDoubts(spec: Pick<Schemas['ParseSpec'], 'findings' | 'doubtful'> | null, reviewed: FileFinding[]): Doubt[] {
  const read = (spec?.findings ?? []).map(ofReading);
  const explained = new Set(read.filter(({ kind }) => kind === 'not_understood').map(({ sheet }) => sheet));
  const sheets = (spec?.doubtful ?? []).filter(({ sheet }) => !explained.has(sheet)).map(ofSheet);
  const told = new Set(
    (spec?.findings ?? []).flatMap(({ kind, sheet, cell, cells }) => (cells ?? [cell]).map((each) => `${saidBy[kind]} ${sheet} ${each}`)),
  );
  const isTold = ({ rule, sheet, evidence }: FileFinding) => told.has(`${rule} ${sheet} ${evidence[0]?.cell}`);
  return [
    ...[...read, ...sheets].sort(bySeverity),
    ...reviewed
      .filter((each) => !isTold(each))
      .map(ofReview)
      .sort(bySeverity),
  ];
}

function ofReading({ kind, sheet, table, cell, cells, count, message }: ParseFinding): Doubt {
  const named = cells ?? (cell === '' ? [] : [cell]);
  return {
    id: `${kind} ${sheet} ${table} ${cell}`,
    severity: severities[kind],
    kind,
    sheet,
    table,
    message,
    fix: null,
    cells: named,
    count: count ?? named.length,
    beside: [],
  };
}

const ofSheet = ({ sheet, reason }: Schemas['DoubtfulSheet']): Doubt => ({
  id: `unsure ${sheet}`,
  severity: 'warning',
  kind: 'unsure',
  sheet,
  table: '',
  message: reason,
  fix: null,
  cells: [],
  count: 0,
  beside: [],
});

function ofReview({ id, severity, table, message, suggested_fix: fix, evidence, sheet }: FileFinding): Doubt {
  const [first, ...beside] = evidence.flatMap(({ cell }) => cell ?? []);
  const cells = first === undefined ? [] : [first];
  return { id, severity, kind: null, sheet, table, message, fix, cells, count: cells.length, beside };
}

export const toRanges = (cells: string[]): Range[] => cells.flatMap((cell) => parseRange(cell) ?? []);
