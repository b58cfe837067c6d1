import type { RecordFormat } from '../../core/records/records.ts';
import { openSource } from '../xlsx/byteSource.ts';
import { refuseFormat } from '../xlsx/fileRefusals.ts';
import { refuseRecords } from './recordFile.ts';

const formats: Record<string, RecordFormat> = {
  parquet: 'parquet',
  pq: 'parquet',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  arrow: 'arrow',
  arrows: 'arrow',
  ipc: 'arrow',
  feather: 'arrow',
};

export function recordFormatOf(extension: string): RecordFormat | null {
  return Object.hasOwn(formats, extension) ? (formats[extension] as RecordFormat) : null;
}

/** The content type of a file of records. Refuses files whose first and last bytes are those of another kind. */
export async function recogniseRecords(path: string, format: RecordFormat): Promise<string> {
  const source = await openSource(path);
  try {
    if (source.size === 0) throw refuseRecords('The file is empty.', 'Send a file with content.');
    const head = await source.read(0, 8);
    const start = head.toString('latin1');
    switch (format) {
      case 'json':
      case 'ndjson': {
        if (start.startsWith('PAR1') || start.startsWith('ARROW1') || head.includes(0))
          throw refuseFormat('The file is not JSON: its first bytes are no text.', 'Send it as UTF-8, or with its own extension.');
        return format === 'json' ? 'application/json' : 'application/x-ndjson';
      }
      case 'parquet': {
        const tail = (await source.read(Math.max(0, source.size - 4), 4)).toString('latin1');
        if (tail === 'PARE') throw refuseFormat('The Parquet file is encrypted.', 'Write it without encryption, and send that.');
        if (!start.startsWith('PAR1')) throw refuseFormat('The file is not Parquet.', 'Send it with its own extension.');
        if (tail !== 'PAR1') throw refuseRecords('The Parquet file is cut off: its end is missing.', 'Write it again, and send that.');
        return 'application/vnd.apache.parquet';
      }
      case 'arrow': {
        if (start.startsWith('FEA1'))
          throw refuseFormat('The file is of the first version of Feather.', 'Write it as Feather version 2 (Arrow IPC), and send that.');
        if (start.startsWith('ARROW1')) return 'application/vnd.apache.arrow.file';
        // A stream begins with a marker and the length of its schema; before version 0.15 with the length alone.
        if (head.length === 8 && head.readUInt32LE(0) === 0xffffffff) return 'application/vnd.apache.arrow.stream';
        throw refuseFormat('The file is not Arrow.', 'Send it with its own extension.');
      }
    }
  } finally {
    await source.close();
  }
}
