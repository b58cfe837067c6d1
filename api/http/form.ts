import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { DomainError } from '../../core/errors.ts';

/** Where a file can be written before it is known whether it is wanted. */
export type MakeDraft = () => Promise<string>;

/** A file that came with a request: on disk, counted and hashed. Gone after the request unless somebody took it over. */
export interface SentFile {
  path: string;
  filename: string;
  size: number;
  sha256: string;
}

export const fileLimit = 100 * 1024 * 1024;
const fieldLimit = 64 * 1024;
const mostFields = 20;

export interface ReadForm {
  fields: Record<string, string>;
  file: SentFile | null;
}

/** A multipart form with at most one file, which is streamed to disk. */
export async function readForm(request: IncomingMessage, makeDraft: MakeDraft): Promise<ReadForm> {
  if (Number(request.headers['content-length'] ?? 0) > fileLimit + 1024 * 1024) throw fileTooLarge();
  const form: ReadForm = { fields: {}, file: null };
  const parser = openParser(request);
  let saving: Promise<void> = Promise.resolve();
  const parsed = new Promise<void>((resolve, reject) => {
    parser.on('finish', resolve).on('error', () => reject(malformed('The form is not well-formed multipart/form-data.')));
    parser.on('field', (name, value, nameCut, valueCut) => {
      if (nameCut || valueCut) reject(new DomainError('too-large', 'A field of the form is larger than 64 KiB.', 'Send less in it.'));
      else if (Object.hasOwn(form.fields, name)) reject(malformed(`The field ${name.slice(0, 100)} stands in the form twice.`));
      else Object.defineProperty(form.fields, name, { value, enumerable: true });
    });
    parser.on('file', (name, stream, filename) => {
      if (name !== 'file' || form.file) {
        stream.resume();
        reject(refuseFile(name));
        return;
      }
      form.file = { path: '', filename: filename ?? '', size: 0, sha256: '' };
      saving = saveTo(form.file, stream, makeDraft);
      saving.catch(reject);
    });
    for (const event of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const)
      parser.on(event, () => reject(malformed('The form has too many parts.')));
  });
  try {
    await Promise.race([parsed, feed(request, parser)]);
    await parsed;
    await saving;
    return form;
  } catch (error) {
    parser.destroy();
    await saving.catch(() => {});
    if (form.file?.path) await rm(form.file.path, { force: true });
    throw error;
  }
}

/** By hand rather than by a pipe: a pipe that fails takes the connection with it, and the answer could not be sent. */
async function feed(request: IncomingMessage, parser: BusboyInstance): Promise<void> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (parser.destroyed) return;
    if (!parser.write(chunk)) await once(parser, 'drain');
  }
  parser.end();
}

function refuseFile(name: string): DomainError {
  const pointer = `/${name.slice(0, 100)}`;
  return new DomainError('validation-failed', `${pointer}: only one file is taken, in the field file.`, 'Send one file.', {
    errors: [{ pointer, detail: 'only one file is taken, in the field `file`' }],
  });
}

function openParser(request: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { fieldSize: fieldLimit, fields: mostFields, files: 2, parts: mostFields + 2, fileSize: fileLimit + 1, headerPairs: 50 },
    });
  } catch {
    throw malformed('The Content-Type names no boundary.');
  }
}

/** The whole body of a request as a file. */
export async function saveBody(request: IncomingMessage, filename: string, makeDraft: MakeDraft): Promise<SentFile> {
  if (Number(request.headers['content-length'] ?? 0) > fileLimit) throw fileTooLarge();
  const file: SentFile = { path: '', filename, size: 0, sha256: '' };
  try {
    await saveTo(file, request, makeDraft);
    return file;
  } catch (error) {
    if (file.path) await rm(file.path, { force: true });
    throw error;
  }
}

async function saveTo(file: SentFile, stream: Readable, makeDraft: MakeDraft): Promise<void> {
  file.path = await makeDraft();
  const hash = createHash('sha256');
  const out = await open(file.path, 'w');
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      file.size += chunk.length;
      if (file.size > fileLimit) throw fileTooLarge();
      hash.update(chunk);
      await out.write(chunk);
    }
  } finally {
    await out.close();
  }
  file.sha256 = hash.digest('hex');
}

function fileTooLarge(): DomainError {
  return new DomainError('too-large', 'The file is larger than 100 MiB.', 'Split the file, or leave out what is not needed.', {
    headers: { Connection: 'close' },
  });
}

function malformed(detail: string): DomainError {
  return new DomainError('malformed-request', detail, 'Send the form as multipart/form-data with one file in the field `file`.');
}
