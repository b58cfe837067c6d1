import { nearestName } from '../cells/nearestName.ts';
import { allowedFunctions, whyFunctionRefused } from './functions.ts';
import { showName } from './identifiers.ts';

/** Messages to the caller about refused SQL. */

export function describeUnknownTable(name: string, known: string[]): string {
  const nearest = suggest(name, known);
  if (nearest !== null) return `There is no table ${showName(name)}. Did you mean ${showName(nearest)}?`;
  if (/[/\\]|:\/\/|\.(csv|tsv|txt|parquet|json|ndjson|jsonl|db|duckdb|xlsx|arrow)(\.\w+)?$/i.test(name)) {
    return `${showName(name)}: files cannot be read; a query reads the workbook's tables.`;
  }
  if (/^(pg_|duckdb_|sqlite_|pragma_|information_schema)/i.test(name)) {
    return `${showName(name)}: the catalog cannot be read; a query reads the workbook's tables.`;
  }
  return `There is no table ${showName(name)}.`;
}

export function describeFunction(name: string): string {
  const why = whyFunctionRefused(name);
  if (why !== null) return `The function ${showName(name)} is not allowed. It ${why}.`;
  const nearest = suggest(
    name,
    [...allowedFunctions].filter((each) => /^[a-z]/.test(each)),
  );
  const hint = nearest === null ? '' : ` Did you mean ${showName(nearest)}?`;
  return `The function ${showName(name)} does not exist or is not allowed.${hint}`;
}

export function describeUnknownPart(name: string, part: Readonly<Record<string, unknown>> | undefined): string {
  if (part?.type === 'SHOW_REF') return 'DESCRIBE, SHOW and SUMMARIZE are not allowed; the columns of a table are in its schema.';
  const kind = String(part?.class ?? part?.type ?? name);
  return `This kind of SQL is not supported here (${kind}${part?.class ? `: ${String(part.type)}` : ''}).`;
}

/** Names of one or two letters are similar to everything, so nothing is suggested for them. */
function suggest(name: string, names: readonly string[]): string | null {
  return name.length < 3 ? null : nearestName(name, names);
}
