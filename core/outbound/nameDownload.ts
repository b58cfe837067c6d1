import { extname } from 'node:path';
import { parse } from 'content-disposition';

export interface Download {
  url: URL;
  /** The headers Content-Disposition and Content-Type, if there are any. */
  disposition?: string;
  contentType?: string;
  /** The first bytes. */
  head: Uint8Array;
}

const readExtensions = new Set('xlsx xlsm csv tsv parquet pq json ndjson jsonl arrow arrows ipc feather'.split(' '));
const signatures: [string, string][] = [
  ['PK\x03\x04', '.xlsx'],
  ['PAR1', '.parquet'],
  ['ARROW1', '.arrow'],
];
const extensionsOfTypes: Record<string, string> = {
  'text/csv': '.csv',
  'application/csv': '.csv',
  'text/tab-separated-values': '.tsv',
  'application/json': '.json',
  'application/x-ndjson': '.ndjson',
  'application/jsonl': '.ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': '.xlsx',
};

/** The name the other side gives it, or the last part of the address; with the extension of what it is, if the name has none. */
export function nameDownload({ url, disposition, contentType, head }: Download): string {
  const name = readDisposition(disposition) ?? decodePath(url.pathname.split('/').at(-1) ?? '');
  const named = name === '' ? url.hostname : name;
  if (readExtensions.has(extname(named).slice(1).toLowerCase())) return named;
  const start = Buffer.from(head).toString('latin1');
  const [, extension] = signatures.find(([signature]) => start.startsWith(signature)) ?? [];
  const [type = ''] = (contentType ?? '').split(';');
  return `${named}${extension ?? extensionsOfTypes[type.trim().toLowerCase()] ?? ''}`;
}

function readDisposition(header: string | undefined): string | null {
  if (header === undefined) return null;
  try {
    const { filename } = parse(header).parameters;
    return filename ? recode(filename) : null;
  } catch {
    return null;
  }
}

/** Many write UTF-8 where the header allows Latin-1 only. */
function recode(text: string): string {
  if (!/^[\0-\xff]*$/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
