import { locatePosition } from '../../../../core/sql/analyze.ts';
import type { ChildError } from '../protocol.ts';

/** A limit of the service, not of DuckDB, was exceeded. */
export class TooLarge extends Error {}

export class TimedOut extends Error {}

/** The query failed, and DuckDB gave no reason. */
export class Failed extends Error {}

interface EngineError {
  exception_type: string;
  exception_message: string;
  position?: string;
  error_subtype?: string;
  type?: string;
}

/** What the caller may see of an error: DuckDB's message without paths, settings and names of other tables. */
export function describeQueryError(error: unknown, sql: string): ChildError {
  if (error instanceof TooLarge) return { kind: 'too-large', message: error.message, line: null, column: null };
  if (error instanceof Failed) return { kind: 'failed', message: error.message, line: null, column: null };
  if (error instanceof TimedOut) return { kind: 'timeout', message: error.message, line: null, column: null };
  const text = error instanceof Error ? error.message : String(error);
  const engine = readEngineError(text);
  if (!engine) return describePlain(text);
  const { exception_type: type, exception_message: message } = engine;
  const where = locatePosition(sql, engine.position === undefined ? null : Number(engine.position));
  if (/^out of memory$/i.test(type) || isMemory(message))
    return { kind: 'too-large', message: 'The query needs more memory than one query may use.', ...where };
  if (/^interrupt$/i.test(type)) return { kind: 'timeout', message: 'The query took too long.', ...where };
  // Unreadable files and internal errors of DuckDB are not the query's fault.
  if (/^(io|internal|fatal|serialization|permission)$/i.test(type) || brokenFile.test(message))
    return { kind: 'broken', message: `${type}: ${message}`, ...where };
  return { kind: 'failed', message: cleanMessage(message, engine), ...where };
}

/** With `errors_as_json` the message is JSON, sometimes with the kind of error before it. */
function readEngineError(text: string): EngineError | null {
  const start = text.indexOf('{"exception_type"');
  if (start < 0) return null;
  try {
    return JSON.parse(text.slice(start)) as EngineError;
  } catch {
    return null;
  }
}

function describePlain(text: string): ChildError {
  if (isMemory(text))
    return { kind: 'too-large', message: 'The query needs more memory than one query may use.', line: null, column: null };
  if (/interrupt/i.test(text)) return { kind: 'timeout', message: 'The query took too long.', line: null, column: null };
  return { kind: 'broken', message: text, line: null, column: null };
}

function isMemory(text: string): boolean {
  return /bad_alloc|out of memory|failed to (re)?allocate|could not allocate|cannot allocate|allocation failure/i.test(text);
}

/** DuckDB's messages about damaged files. Queries cannot name files, so these are our fault. */
const brokenFile =
  /^(TProtocolException|No magic bytes found|Invalid string encoding found in Parquet file|Failed to read Parquet file|Corrupt )/;

const maxMessageLength = 1000;

function cleanMessage(message: string, engine: EngineError): string {
  const lines = message
    .split('\n')
    // Suggestions may name tables of DuckDB's own catalog; advice is about settings that callers cannot change.
    .filter((line) => !(engine.error_subtype === 'MISSING_ENTRY' && /did you mean/i.test(line)))
    .filter((line) => !/\b(SET|PRAGMA|INSTALL|LOAD)\s+\w+/.test(line))
    .map((line) => line.replace(/(^|[\s'"(=])\/(?:[\w.-]+\/)+[\w.-]*/g, '$1…').trimEnd());
  const text = lines.join('\n').trim();
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text || 'The engine gave no reason.';
}
