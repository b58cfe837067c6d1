import { rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { MakeDraft } from '../../activities/sources/saveDraft.ts';
import { mayRound, parseExactly } from '../../core/cells/jsonReader.ts';
import { countParts, findValueEnd } from '../../core/cells/jsonText.ts';
import { parseRowLines, parseRowsJson } from '../../core/cells/rowsJson.ts';
import { DomainError } from '../../core/errors.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import { readArrowRows } from '../../store/records/arrowRows.ts';
import { type Pace, publicPace, readChunks, usualPace } from './chunks.ts';
import { arrowType, formType, linesType, type Operation, pageFormType } from './contract.ts';
import { type ReadForm, readForm, type SentFile } from './form.ts';
import { refuseJson } from './jsonFault.ts';
import { readQueryFields, refuseQueryFields, type SentQuery } from './queryFields.ts';
import { bodyTooLarge, type ReceivedBody, receiveBody } from './receiveBody.ts';

/** Fields whose numbers become cells or parameters, where no digit may be lost. */
export const exactFields = ['rows', 'row', 'values', 'default', 'params'];

export interface ReadBody {
  /** The body as the contract describes it. */
  value: unknown;
  /** Fields that hold numbers with more digits than a double, with these numbers as LongNumber. */
  exact?: Record<string, unknown>;
  /** Where the fields besides `rows` stand, if not in the body. */
  besideRows?: '/query';
  size: number;
  /** Two requests are the same if this is equal. */
  print: string | Uint8Array;
  /** The file of a form. Removed after the request unless the handler takes it. */
  file: SentFile | null;
}

/** The request's body, or undefined. Bytes that are neither a form nor JSON are left to the handler. */
export async function readBody(
  request: IncomingMessage,
  operation: Operation,
  query: SentQuery,
  makeDraft: MakeDraft,
  takeRoom: (bytes: number) => Promise<void>,
): Promise<ReadBody | undefined> {
  if (operation.takesAnyBytes) return undefined;
  if (operation.bodyTypes.length === 0) {
    if (!readOnly.has(request.method ?? '')) await refuseAny(request, operation);
    return undefined;
  }
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const isForm = type === formType && operation.bodyTypes.includes(type);
  if (isForm) return takeForm(await readForm(request, makeDraft), operation);
  const bytes = await readBytes(request, operation, makeDraft, takeRoom);
  if (bytes.length === 0) return undefined;
  if (!operation.bodyTypes.includes(type)) {
    throw new DomainError(
      'unsupported-media',
      type === ''
        ? 'The request has a body but no Content-Type.'
        : `The body's media type, ${type.slice(0, 80)}, is not one that this operation takes.`,
      `Send the body as ${operation.bodyTypes.join(' or ')}.`,
    );
  }
  const rest = { size: bytes.length, print: bytes, file: null };
  if (type === pageFormType) return { value: readPageForm(decodeText(bytes)), ...rest };
  const rows = type === linesType ? readLines(bytes) : type === arrowType ? await readArrow(bytes, makeDraft) : null;
  if (rows) return { value: { ...readQueryFields(operation, query), rows }, besideRows: '/query', ...rest };
  refuseQueryFields(operation, query);
  return { ...parseBody(bytes, operation), ...rest };
}

const readOnly = new Set(['GET', 'HEAD']);
const mostBlanks = 64 * 1024;

/** Refuses a body for operations that take none, as it would be ignored. Some clients always send an empty one. */
async function refuseAny(request: IncomingMessage, operation: Operation): Promise<void> {
  let text = '';
  let size = 0;
  for await (const part of readChunks(request, paceOf(operation))) {
    text = `${text}${part.toString()}`.trim();
    size += part.length;
    if (text.length > 'null'.length || size > mostBlanks) break;
  }
  // Blanks without end are a body, too.
  if (size > mostBlanks) text = 'more';
  if (text === '' || text === '{}' || text === 'null') return;
  throw new DomainError('validation-failed', 'This operation takes no body.', 'Send the request without one; /docs shows what it takes.', {
    errors: [{ pointer: '', detail: 'is not known here' }],
  });
}

async function takeForm(form: ReadForm, operation: Operation): Promise<ReadBody> {
  try {
    return describeForm(form, operation);
  } catch (error) {
    if (form.file) await rm(form.file.path, { force: true });
    throw error;
  }
}

/** How clients write a boolean in a form. */
const formFlags = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Form fields are texts; booleans and choices are converted. The file is represented by its name until it is examined. */
function describeForm({ fields, file }: ReadForm, operation: Operation): ReadBody {
  refuseBadText(fields, '');
  const readField = (name: string, text: string) => {
    if (operation.formFlags.has(name)) return formFlags.get(text.toLowerCase()) ?? text;
    return operation.formChoices.has(name) && text === 'null' ? null : text;
  };
  const value = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, readField(name, text)]));
  if (file) refuseBadText(file.filename, '/file');
  const print = JSON.stringify([Object.entries(fields).sort(), file && [file.filename, file.sha256]]);
  return { value: file ? { ...value, file: file.filename } : value, size: print.length, print, file };
}

/** A field that comes twice counts once, as its last. */
function readPageForm(text: string): Record<string, string> {
  const fields = Object.fromEntries(new URLSearchParams(text));
  refuseBadText(fields, '');
  return fields;
}

function paceOf(operation: Operation): Pace {
  return operation.accepts.length === 0 ? publicPace : usualPace;
}

async function readBytes(
  request: IncomingMessage,
  operation: Operation,
  makeDraft: MakeDraft,
  takeRoom: (bytes: number) => Promise<void>,
): Promise<Buffer> {
  const limit = operation.bodyLimitBytes;
  if (Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit);
  const received = await receiveBody(readChunks(request, paceOf(operation)), limit, makeDraft);
  try {
    await admitBody(received, takeRoom);
    return await received.read();
  } catch (error) {
    await received.discard();
    throw error;
  }
}

/** Many short values take many times the memory of their text. */
const mostCost = 384 * 1024 * 1024;
const littleCost = 1024 * 1024;

async function admitBody({ cost }: ReceivedBody, takeRoom: (bytes: number) => Promise<void>): Promise<void> {
  if (cost > mostCost) throw new DomainError('too-large', 'The body holds too many values.', 'Send it in smaller parts.');
  if (cost > littleCost) await takeRoom(cost);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeText(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new DomainError('malformed-request', 'The body is not UTF-8.', 'Send JSON in UTF-8.');
  }
}

function parseBody(bytes: Buffer, operation: Operation): Pick<ReadBody, 'value' | 'exact'> {
  const text = decodeText(bytes);
  refuseManyParts(text);
  const withRows = operation.givesRows ? parseRowsJson(text) : null;
  if (withRows) return { value: withRows };
  const value = parseJson(text);
  return mayRound(text) ? { value, exact: readExactFields(text) } : { value };
}

function readExactFields(text: string): Record<string, unknown> {
  const whole = parseExactly(text);
  if (typeof whole !== 'object' || whole === null) return {};
  return Object.fromEntries(Object.entries(whole).filter(([name]) => exactFields.includes(name)));
}

/** `line` and `pointer` say where a text stands that is only a part of the body. */
function parseJson(text: string, line = 1, pointer = ''): unknown {
  refuseDeepNesting(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuseJson(text, line, pointer);
  }
  // Only escapes can produce these: the decoder refuses surrogates, the parser U+0000.
  if (/\\u(0000|[dD][89a-fA-F])/.test(text)) refuseBadText(value, pointer);
  return value;
}

/** The rows of lines of JSON. A line that is none is refused with its number. */
function readLines(bytes: Buffer): object[] {
  const text = decodeText(bytes);
  refuseManyParts(text);
  const lines = parseRowLines(text);
  if (lines.kind === 'rows') return lines.rows;
  const pointer = `/rows/${lines.row}`;
  parseJson(lines.text, lines.line, pointer);
  throw new DomainError('validation-failed', `Line ${lines.line} is not one JSON object.`, 'Send one JSON object on each line.', {
    errors: [{ pointer, detail: `line ${lines.line} must be one JSON object` }],
  });
}

/** One more would be too many, as the contract says. */
const mostRows = 10_000;

async function readArrow(bytes: Buffer, makeDraft: MakeDraft): Promise<object[]> {
  const path = await makeDraft();
  try {
    await writeFile(path, bytes);
    return await readArrowRows(path, mostRows);
  } finally {
    await rm(path, { force: true });
  }
}

const mostParts = 500_000;

/** Objects and lists take far longer to read than texts and numbers of the same length. 10,000 rows have few of them. */
function refuseManyParts(text: string): void {
  if (text.length <= mostParts || countParts(text, mostParts) <= mostParts) return;
  throw new DomainError('too-large', `The body has more than ${mostParts} objects and lists.`, 'Send it in smaller parts.');
}

const deepest = 100;

/** Code that walks a body is recursive, except the parser. Real bodies are never this deep. */
function refuseDeepNesting(text: string): void {
  if (findValueEnd(text, 0, deepest) === null)
    throw new DomainError('malformed-request', `The body is nested more than ${deepest} levels deep.`, 'Send it flatter.');
}

/** U+0000 and lone surrogates: PostgreSQL and most clients cannot hold such text. */
export function refuseBadText(value: unknown, pointer: string): void {
  if (typeof value === 'string') {
    if (!value.includes('\u0000') && value.isWellFormed()) return;
    throw new DomainError('validation-failed', 'A text contains U+0000 or half of a surrogate pair.', 'Remove that character.', {
      errors: [{ pointer, detail: 'contains U+0000 or a lone surrogate' }],
    });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    refuseBadText(key, pointer);
    refuseBadText(item, `${pointer}/${escapePointer(key)}`);
  }
}
