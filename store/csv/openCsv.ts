/** Opens delimited text: encoding and delimiter found out, content as decoded pieces. */

import { isAscii } from 'node:buffer';
import { extname } from 'node:path';
import { DomainError } from '../../core/errors.ts';
import { type ByteSource, openSource } from '../xlsx/byteSource.ts';
import { refuseFormat, refuseTooLarge } from '../xlsx/fileRefusals.ts';
import { fillLimits, type ReadLimits, type ReadOptions } from '../xlsx/readLimits.ts';
import { type Delimiter, detectDelimiter } from './detectDelimiter.ts';
import { type CsvEncoding, detectBom, detectEncoding, detectUtf16, ENCODING_SAMPLE } from './detectEncoding.ts';

export interface CsvOptions extends ReadOptions {
  /** Found out when it is not given. */
  encoding?: CsvEncoding;
  delimiter?: Delimiter;
  /** Name of the file, whose extension is a hint; taken from the path when there is one. */
  filename?: string;
}

export interface CsvFile {
  encoding: CsvEncoding;
  delimiter: Delimiter;
  limits: ReadLimits;
  /** Rows to leave out at the beginning: Excel's `sep=;`. */
  skipRows: number;
  /** In bytes, as it was sent. */
  size: number;
  /** How many of them `chunks` has read. */
  readBytes(): number;
  /** The content as UTF-8. */
  chunks(): AsyncGenerator<Buffer, void, undefined>;
  close(): Promise<void>;
}

const CHUNK = 256 * 1024;

export async function openCsv(input: string | Uint8Array, options: CsvOptions = {}): Promise<CsvFile> {
  const limits = fillLimits(options);
  const source = await openSource(input);
  try {
    if (source.size === 0) throw new DomainError('validation-failed', 'The file is empty.', 'Send a file with content.');
    if (source.size > limits.fileBytes) throw refuseTooLarge(`The file is larger than ${limits.fileBytes} bytes.`, 'Split the file.');
    const head = await source.read(0, 64 * 1024);
    checkIsText(head);
    const encoding = options.encoding ?? detectBom(head) ?? detectUtf16(head) ?? (await detectBeyondAscii(source));
    let bytesRead = 0;
    const onRead = (bytes: number) => {
      bytesRead = bytes;
    };
    const chunks = () => recodeChunks(source, encoding, onRead, options.signal);
    const sample = new TextDecoder(encoding).decode(head, { stream: true });
    const hint = /^sep=([,;|\t])\r?\n/i.exec(sample)?.[1] as Delimiter | undefined;
    const extension = extname(options.filename ?? (typeof input === 'string' ? input : '')).toLowerCase();
    // Without a line end there is only one row, which would never be finished.
    const whole = source.size <= head.length ? `${sample}\n` : sample;
    const delimiter = options.delimiter ?? hint ?? detectDelimiter(whole, extension === '.tsv' || extension === '.tab' ? '\t' : ',');
    return {
      encoding,
      delimiter,
      limits,
      skipRows: hint ? 1 : 0,
      size: source.size,
      readBytes: () => bytesRead,
      chunks,
      close: () => source.close(),
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function checkIsText(head: Buffer): void {
  const signature = head.toString('latin1', 0, 8);
  if (signature.startsWith('PK\u0003\u0004') || signature.startsWith('\u00d0\u00cf\u0011\u00e0'))
    throw refuseFormat('The file is a workbook under the name of a text file.', 'Send it with its own extension, such as .xlsx.');
  if (signature.startsWith('%PDF')) throw refuseFormat('The file is a PDF.', 'Send the table it was made from.');
}

async function detectBeyondAscii(source: ByteSource): Promise<CsvEncoding> {
  for (let offset = 0; offset < source.size; offset += CHUNK) {
    const chunk = await source.read(offset, CHUNK);
    if (isAscii(chunk)) continue;
    const first = chunk.findIndex((byte) => byte >= 0x80);
    const encoding = detectEncoding(await source.read(offset + first, ENCODING_SAMPLE));
    if (encoding) return encoding;
    throw new DomainError(
      'validation-failed',
      'The encoding of the file is not known: it is not UTF-8, UTF-16, Shift_JIS or EUC-JP.',
      'Save it as "CSV UTF-8" and send that.',
    );
  }
  return 'utf-8';
}

async function* recodeChunks(
  source: ByteSource,
  encoding: CsvEncoding,
  onRead: (bytes: number) => void,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const decoder = encoding === 'utf-8' ? null : new TextDecoder(encoding);
  for (let offset = 0; offset < source.size; offset += CHUNK) {
    signal?.throwIfAborted();
    let bytes = await source.read(offset, CHUNK);
    onRead(offset + bytes.length);
    if (decoder) bytes = Buffer.from(decoder.decode(bytes, { stream: offset + CHUNK < source.size }));
    else if (offset === 0 && detectBom(bytes) === 'utf-8') bytes = bytes.subarray(3);
    if (bytes.includes(0)) {
      throw new DomainError(
        'validation-failed',
        'The file contains NUL bytes, which text does not have.',
        'Export the file again, as text.',
      );
    }
    yield bytes;
  }
}
