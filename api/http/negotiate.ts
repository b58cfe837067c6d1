import type { IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';
import { DomainError } from '../../core/errors.ts';
import type { DataFormat } from '../../store/duckdb/formats/streamRows.ts';
import type { Operation } from './contract.ts';

/** Media types of the formats of rows. */
export const rowTypes = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<DataFormat, string>;

export const schemaType = 'application/schema+json';
export const svgType = 'image/svg+xml';

/** What `format` says, in media types. */
const namedTypes: Record<string, string | undefined> = {
  ...rowTypes,
  columns: 'application/json',
  'json-schema': schemaType,
  svg: svgType,
};

export function formatOf(type: string): DataFormat {
  const found = (Object.keys(rowTypes) as DataFormat[]).find((format) => rowTypes[format] === type);
  if (!found) throw new Error(`${type} is not a format of rows`);
  return found;
}

/**
 * The media type to answer with, of those that the contract lists; the first is what a caller gets who wants nothing special.
 * `format`, in the address or the body, wins over `Accept`. An operation that declares no 406 answers in its first form then.
 */
export function chooseType(operation: Operation, request: IncomingMessage, query: Record<string, unknown>, body: unknown): string {
  const { answerTypes } = operation;
  const named = chooseNamed(query.format, (body as { format?: unknown } | undefined)?.format);
  const type = named && answerTypes.includes(named) ? named : new Negotiator(request).mediaType(answerTypes);
  if (type !== undefined || !operation.refusesTypes) return type ?? answerTypes[0] ?? '';
  throw new DomainError(
    'not-acceptable',
    `This cannot be answered as ${request.headers.accept?.slice(0, 200)}.`,
    `Ask for ${answerTypes.slice(0, -1).join(', ')} or ${answerTypes.at(-1)}.`,
    { members: { available: answerTypes } },
  );
}

function chooseNamed(inAddress: unknown, inBody: unknown): string | undefined {
  if (inAddress !== undefined && inBody !== undefined && inAddress !== inBody)
    throw new DomainError('validation-failed', 'The address and the body name different formats.', 'Send `format` once.', {
      errors: [{ pointer: '/query/format', detail: 'differs from the body' }],
    });
  return namedTypes[String(inAddress ?? inBody)];
}
