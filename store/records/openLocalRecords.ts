import { openArrowRecords } from './arrowRecords.ts';
import { openJsonRecords } from './jsonRecords.ts';
import { type RecordFile, recordLimits } from './recordFile.ts';

/** Opens a file of records in a format that needs no query process. The caller closes it. */
export async function openLocalRecords(path: string, format: string): Promise<RecordFile> {
  switch (format) {
    case 'json':
    case 'ndjson':
      return openJsonRecords(path, format, recordLimits);
    case 'arrow':
      return openArrowRecords(path, recordLimits);
    default:
      throw new Error(`${format} is not read here`);
  }
}
