import { checkTree, type KnownTable, type TreeCheck } from './checkTree.ts';
import { locate } from './position.ts';

/** What is wrong with SQL, and where. */
export interface SqlError {
  message: string;
  line: number | null;
  column: number | null;
}

/** `refused`: not allowed here. `failed`: not SQL. `too-large`: more than the parser takes. */
export type Analysis =
  | ({ outcome: 'ok' } & Omit<TreeCheck, 'refusals'>)
  | { outcome: 'refused' | 'failed' | 'too-large'; errors: SqlError[] };

const maxSqlBytes = 1_048_576;

/** Why a text cannot be SQL (empty, too long, invalid characters); null when it can. Cheap, so done before parsing. */
export function checkText(sql: string): string | null {
  if (sql.trim() === '') return 'The SQL is empty.';
  if (sql.length > maxSqlBytes || new TextEncoder().encode(sql).length > maxSqlBytes) return `The SQL is longer than ${maxSqlBytes} bytes.`;
  if (sql.includes('\0')) return 'The SQL holds the character U+0000.';
  if (!sql.isWellFormed()) return 'The SQL holds a lone surrogate, which is no character.';
  return null;
}

interface SerializedTree {
  error: boolean;
  error_type?: string;
  error_message?: string;
  position?: string;
  statements?: unknown[];
}

/** Decides whether the SQL may run, from the output of DuckDB's `json_serialize_sql`. */
export function analyze(sql: string, serialized: string, known: readonly KnownTable[]): Analysis {
  // The engine writes a number beyond DOUBLE as Infinity, which is not valid JSON.
  if (/"value":-?Infinity\b/.test(serialized))
    return { outcome: 'failed', errors: [{ message: 'The SQL holds a number that is beyond DOUBLE.', line: null, column: null }] };
  const tree = JSON.parse(serialized) as SerializedTree;
  if (tree.error || !tree.statements) return judgeParseError(sql, tree);
  const { refusals, ...check } = checkTree(tree.statements, known);
  if (refusals.length === 0) return { outcome: 'ok', ...check };
  return { outcome: 'refused', errors: refusals.map(({ message, offset }) => ({ message, ...locatePosition(sql, offset) })) };
}

function judgeParseError(sql: string, { error_type: type, error_message: text = '', position }: SerializedTree): Analysis {
  const where = locatePosition(sql, position === undefined ? null : Number(position));
  if (/memory exhausted|max expression depth/i.test(text))
    return { outcome: 'too-large', errors: [{ message: 'The query is nested too deeply.', ...where }] };
  if (type === 'parser') return { outcome: 'failed', errors: [{ message: text, ...where }] };
  if (/only select statements/i.test(text))
    return { outcome: 'refused', errors: [{ message: describeOtherStatement(sql), line: null, column: null }] };
  return { outcome: 'failed', errors: [{ message: text, ...where }] };
}

/** DuckDB only says that it is no SELECT. A PIVOT without values is one such case, because DuckDB splits it into two statements. */
function describeOtherStatement(sql: string): string {
  if (/\bpivot\b/i.test(sql)) return "PIVOT needs its values written out, such as PIVOT t ON month IN ('04', '05') USING sum(amount).";
  return 'Only a SELECT is allowed (with WITH, set operations and VALUES).';
}

export function locatePosition(sql: string, offset: number | null): { line: number | null; column: number | null } {
  const position = locate(sql, offset);
  return { line: position?.line ?? null, column: position?.column ?? null };
}
