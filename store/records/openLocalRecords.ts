import { openArrowRecords } from './arrowRecords.ts';
import { openJsonRecords } from './jsonRecords.ts';
import { type RecordFile, recordLimits } from './recordFile.ts';

/** Opens a file of records in a format that needs no query process. The caller closes it. */
export async function openLocalRecords(path: string, format: string, signal?: AbortSignal): Promise<RecordFile> {
  switch (format) {
    case 'json':
    case 'ndjson':
      return openJsonRecords(path, format, recordLimits, signal);
    case 'arrow':
      return openArrowRecords(path, recordLimits, signal);
    default:
      throw new Error(`${format} is not read here`);
  }
}
