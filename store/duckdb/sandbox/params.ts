import { LongNumber } from '../../../core/cells/givenRow.ts';
import { DomainError, type ProblemItem } from '../../../core/errors.ts';
import { escapePointer } from '../../../core/jsonPointer.ts';
import type { Params, Scalar } from './protocol.ts';

/** Parameters of a request, by position or by name. */
export type GivenParams = unknown[] | Record<string, unknown>;

const maxParams = 1_000;

/** By name; positions are named `1`, `2`, …. Values must be scalars or lists of scalars. */
export function readParams(given: GivenParams | undefined): Params {
  const entries: [string, unknown, string][] = Array.isArray(given)
    ? given.map((value, i) => [String(i + 1), value, String(i)])
    : Object.entries(given ?? {}).map(([name, value]) => [name.replace(/^\$/, ''), value, name]);
  if (entries.length > maxParams) throw invalid([{ pointer: '/params', detail: `There are more than ${maxParams} parameters.` }]);
  const problems: ProblemItem[] = [];
  const names = new Set<string>();
  for (const [name, value, key] of entries) {
    // DuckDB ignores case too.
    const isTwice = names.size === names.add(name.toLowerCase()).size;
    const detail = isTwice ? `$${name} is given twice.` : findProblem(value);
    if (detail !== null) problems.push({ pointer: `/params/${escapePointer(key)}`, detail });
  }
  if (problems.length > 0) throw invalid(problems);
  return Object.fromEntries(entries.map(([name, value]) => [name, value as Scalar | Scalar[]]));
}

function findProblem(value: unknown): string | null {
  if (Array.isArray(value))
    return (
      value.map((item) => (Array.isArray(item) ? 'A list holds scalars only.' : findProblem(item))).find((problem) => problem !== null) ??
      null
    );
  if (value === null || typeof value === 'boolean') return null;
  if (typeof value === 'number') return findNumberProblem(value);
  if (value instanceof LongNumber) return 'The number has more digits than a JSON number can keep; give it as a string.';
  if (typeof value !== 'string') return 'A parameter is text, a number, true, false, null, or a list of those.';
  if (value.includes('\0')) return 'Text must not hold U+0000.';
  return value.isWellFormed() ? null : 'Text must not hold lone surrogates.';
}

/** From here on numbers are written with an exponent, so nobody expects every digit to be exact. */
const roundFrom = 1e21;

function findNumberProblem(value: number): string | null {
  if (!Number.isFinite(value)) return 'A number must be finite.';
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= roundFrom;
  return isExact ? null : 'The number is beyond 2^53 as a JSON number and may have lost digits; give it as a string.';
}

/** Throws unless exactly the query's parameters are given. */
export function matchParams(used: string[], params: Params): void {
  const problems = findParamProblems(used, params);
  if (problems.length > 0) throw invalid(problems.map((detail) => ({ pointer: '/params', detail })));
}

/** `params` null: only problems of the query itself. */
export function findParamProblems(used: string[], params: Params | null): string[] {
  const gap = findGap(used);
  if (gap !== null) return [gap];
  if (params === null) return [];
  const given = new Map(Object.keys(params).map((name) => [name.toLowerCase(), name]));
  const wanted = new Set(used.map((name) => name.toLowerCase()));
  const missing = used.filter((name) => !given.has(name.toLowerCase()));
  const extra = [...given].filter(([name]) => !wanted.has(name)).map(([, name]) => name);
  return [
    ...missing.map((name) => `The query uses $${name}, which is not given.`),
    ...extra.map((name) => `$${name} is given, but the query does not use it.`),
  ];
}

/** DuckDB cannot bind positions after one that the query does not use. */
export function findGap(used: string[]): string | null {
  const positions = used.filter((name) => /^\d+$/.test(name)).map(Number);
  const missing = Array.from({ length: positions.length }, (_, i) => i + 1).find((position) => !positions.includes(position));
  return missing === undefined ? null : `The query uses $${Math.max(...positions)}, but not $${missing}; number parameters without gaps.`;
}

function invalid(errors: ProblemItem[]): DomainError {
  return new DomainError(
    'validation-failed',
    errors[0]?.detail ?? 'The parameters are not valid.',
    'Give params as a list for $1, $2 … or as an object for $name.',
    { errors },
  );
}
