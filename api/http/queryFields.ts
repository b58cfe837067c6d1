import { DomainError } from '../../core/errors.ts';
import type { Operation } from './contract.ts';

export type SentQuery = Record<string, string | string[] | undefined>;

/** Where a body holds rows alone, what JSON would say around them stands in the query. */
export function readQueryFields({ queryFields }: Operation, query: SentQuery): Record<string, unknown> {
  const given = [...queryFields].filter(([name]) => query[name] !== undefined);
  return Object.fromEntries(
    given.map(([name, types]) => [name, types.includes('array') ? [query[name]].flat() : readScalar(types, query[name])]),
  );
}

function readScalar(types: unknown[], text: unknown): unknown {
  if (types.includes('null') && text === 'null') return null;
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return types.includes('integer') && typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** With a JSON body these fields stand in it; in the query they would be passed over. */
export function refuseQueryFields({ queryFields }: Operation, query: SentQuery): void {
  const errors = [...queryFields.keys()].flatMap((name) =>
    query[name] === undefined ? [] : [{ pointer: `/query/${name}`, detail: 'stands in the body where that is JSON' }],
  );
  if (errors.length === 0) return;
  throw new DomainError('validation-failed', `${errors[0]?.pointer}: ${errors[0]?.detail}.`, 'Move it into the body.', { errors });
}
