import { extname } from 'node:path';
import { DomainError } from '../../core/errors.ts';
import type { SourceFormat } from '../../core/jobs/sourceJobs.ts';
import { openCsv } from '../../store/csv/index.ts';
import { recogniseRecords, recordFormatOf } from '../../store/records/recogniseRecords.ts';
import { recogniseWorkbook } from '../../store/xlsx/index.ts';

export interface RecognisedFile {
  format: SourceFormat;
  contentType: string;
}

const textTypes = { csv: 'text/csv', tsv: 'text/tab-separated-values' } as const;
const advice = new Map([
  ['xls', 'Open the file in Excel, save it as .xlsx and send that.'],
  ['xlsb', 'Open the file in Excel, save it as .xlsx and send that.'],
  ['ods', 'Open the file in LibreOffice or Excel, save it as .xlsx and send that.'],
  ['gz', 'Unpack the file and send what is inside.'],
  ['zip', 'Unpack the file and send what is inside.'],
  ['numbers', 'In Numbers: File, Export To, Excel; send the .xlsx.'],
]);

/** Recognises a file by name and first bytes; refuses others with advice. The content is read later. */
export async function recogniseFile(path: string, filename: string): Promise<RecognisedFile> {
  const extension = extname(filename).slice(1).toLowerCase();
  if (extension === 'csv' || extension === 'tsv') {
    await (await openCsv(path, { filename })).close();
    return { format: extension, contentType: textTypes[extension] };
  }
  if (extension === 'xlsx' || extension === 'xlsm' || extension === '') {
    const { hasMacros } = await recogniseWorkbook(path);
    return {
      format: 'xlsx',
      contentType: hasMacros
        ? 'application/vnd.ms-excel.sheet.macroEnabled.12'
        : 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    };
  }
  const records = recordFormatOf(extension);
  if (records) return { format: records, contentType: await recogniseRecords(path, records) };
  throw new DomainError(
    'unsupported-media',
    `Files of the kind .${extension.slice(0, 20)} are not read; xlsx, xlsm, csv, tsv, parquet, json, ndjson and arrow are.`,
    advice.get(extension) ?? 'Save the table as .xlsx or .csv and send that.',
  );
}
