import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { type Draft, fileTooLarge, type MakeDraft, mostFileBytes, saveDraft } from '../../activities/sources/saveDraft.ts';
import { DomainError } from '../../core/errors.ts';
import { drainBody, readChunks } from './chunks.ts';

/** A file that came with a request. Removed after the request unless the handler takes it. */
export interface SentFile extends Draft {
  filename: string;
}

const fieldLimit = 64 * 1024;
const mostFields = 20;
/** A file and the form around it. */
const formLimit = mostFileBytes + 2 * 1024 * 1024;

export interface ReadForm {
  fields: Record<string, string>;
  file: SentFile | null;
}

/** Reads a multipart form with at most one file, which is streamed to disk. If anything fails, no file remains. */
export async function readForm(request: IncomingMessage, makeDraft: MakeDraft): Promise<ReadForm> {
  if (Number(request.headers['content-length'] ?? 0) > formLimit) throw fileTooLarge();
  const form: ReadForm = { fields: {}, file: null };
  const parser = openParser(request);
  const stop = new AbortController();
  let incoming: Readable | null = null;
  let saving: Promise<void> = Promise.resolve();
  const parsed = new Promise<void>((resolve, reject) => {
    parser.on('finish', resolve).on('error', () => reject(malformed('The form is not well-formed multipart/form-data, or it is cut off.')));
    parser.on('field', (name: string | undefined, value, nameCut, valueCut) => {
      if (name === undefined) reject(malformed('A part of the form has no name.'));
      else if (name === 'file') reject(refuseFile('file', 'must be a file, sent with its name'));
      else if (nameCut || valueCut) reject(new DomainError('too-large', 'A field of the form is larger than 64 KiB.', 'Send less in it.'));
      else if (Object.hasOwn(form.fields, name)) reject(malformed(`The field ${name.slice(0, 100)} stands in the form twice.`));
      else Object.defineProperty(form.fields, name, { value, enumerable: true });
    });
    parser.on('file', (name: string | undefined, stream, filename) => {
      // Its errors are reported for the whole form.
      stream.on('error', () => {});
      if (name !== 'file' || form.file) {
        stream.resume();
        reject(refuseFile(name ?? '', 'only one file is taken, in the field `file`'));
        return;
      }
      const file = { path: '', filename: filename ?? '', size: 0, sha256: '' };
      form.file = file;
      incoming = stream;
      saving = saveDraft(stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>, makeDraft).then((draft) => {
        Object.assign(file, draft);
      });
      saving.catch(reject);
    });
    for (const event of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const)
      parser.on(event, () => reject(malformed('The form has too many parts.')));
  });
  try {
    await Promise.race([parsed, feed(request, parser, stop.signal)]);
    await parsed;
    await saving;
    return form;
  } catch (error) {
    stop.abort();
    parser.destroy();
    // Otherwise readers of the file would wait forever.
    (incoming as Readable | null)?.destroy();
    await saving.catch(() => {});
    if (form.file?.path) await rm(form.file.path, { force: true });
    await drainBody(request);
    throw error;
  }
}

/** Not a pipe: a pipe that fails destroys the connection, and the answer could not be sent. */
async function feed(request: IncomingMessage, parser: BusboyInstance, signal: AbortSignal): Promise<void> {
  let size = 0;
  for await (const chunk of readChunks(request)) {
    if (signal.aborted) return;
    size += chunk.length;
    if (size > formLimit) throw fileTooLarge();
    if (!parser.write(chunk)) await once(parser, 'drain', { signal });
  }
  parser.end();
}

function refuseFile(name: string, detail: string): DomainError {
  const pointer = `/${name.slice(0, 100)}`;
  return new DomainError('validation-failed', `${pointer}: ${detail}.`, 'Send one file, in the field `file` of the form.', {
    errors: [{ pointer, detail }],
  });
}

function openParser(request: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { fieldSize: fieldLimit, fields: mostFields, files: 2, parts: mostFields + 2, fileSize: mostFileBytes + 1, headerPairs: 50 },
    });
  } catch {
    throw malformed('The Content-Type names no boundary.');
  }
}

/** Saves the whole body of a request to a file. */
export async function saveBody(request: IncomingMessage, filename: string, makeDraft: MakeDraft): Promise<SentFile> {
  if (Number(request.headers['content-length'] ?? 0) > mostFileBytes) throw fileTooLarge();
  try {
    return { filename, ...(await saveDraft(readChunks(request), makeDraft)) };
  } catch (error) {
    await drainBody(request);
    throw error;
  }
}

function malformed(detail: string): DomainError {
  return new DomainError('malformed-request', detail, 'Send the form as multipart/form-data with one file in the field `file`.');
}
