import { extname } from 'node:path';

export const googleSheetType = 'application/vnd.google-apps.spreadsheet';
export const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const importableTypes = new Set([
  googleSheetType,
  xlsxType,
  'application/vnd.ms-excel.sheet.macroenabled.12',
  'text/csv',
  'text/tab-separated-values',
  'application/json',
  'application/x-ndjson',
  'application/vnd.apache.parquet',
]);
const importableExtensions = new Set('xlsx xlsm csv tsv parquet pq json ndjson jsonl arrow arrows ipc feather'.split(' '));

/** Whether a file of a drive can become a source, by its name or its media type. */
export function isImportable({ name, mimeType }: { name: string; mimeType: string | null }): boolean {
  return importableExtensions.has(extname(name).slice(1).toLowerCase()) || importableTypes.has((mimeType ?? '').toLowerCase());
}

/** Documents that live in Google's own programs have no bytes; of these only sheets can be fetched, as a workbook. */
export function hasBytes(mimeType: string | null): boolean {
  return mimeType === googleSheetType || !mimeType?.startsWith('application/vnd.google-apps.');
}
