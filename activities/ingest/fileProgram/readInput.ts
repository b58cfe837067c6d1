import { getHeapStatistics } from 'node:v8';
import type { Grid } from '../../../core/grid/grid.ts';
import { isRecordFormat, type RecordColumn } from '../../../core/records/records.ts';
import { readCsv } from '../../../store/csv/index.ts';
import { openLocalRecords } from '../../../store/records/openLocalRecords.ts';
import { readRecordGrid } from '../../../store/records/readRecordGrid.ts';
import type { RecordFile } from '../../../store/records/recordFile.ts';
import { readRecordLines } from '../../../store/records/recordLines.ts';
import { readWorkbook } from '../../../store/xlsx/index.ts';
import type { FileInput, Reader } from './requests.ts';

/**
 * What a cell may take while its file is structured and written. A list of 12 million, short texts among them, takes 70 bytes for
 * each; as much again is for longer texts and for what sheets of another shape need.
 */
const bytesOfCell = 128;
/** The heap may take this part of the memory of the process. */
const heapShare = 0.75;

/** A file is held in memory while it is structured; larger files stay raw. */
export const memoryLimits = {
  cellsInMemory: Math.floor(getHeapStatistics().heap_size_limit / heapShare / bytesOfCell),
  formulaCharacters: 64 * 1024 * 1024,
};

export async function openRecords({ path, format, lines }: FileInput): Promise<RecordFile> {
  if (!lines) return openLocalRecords(path, format);
  return { ...lines, batches: () => readRecordLines(path, lines.columns.length), close: async () => {} };
}

/**
 * Reads every sheet into memory, and returns how it was read. What is not given about a text file is detected. Records are read
 * as a sheet with their names in the first row; `typed` has these names and their types.
 */
export async function readGrids(input: FileInput): Promise<{ grids: Grid[]; reader: Reader; typed?: RecordColumn[] }> {
  const { path, format, filename } = input;
  if (format === 'xlsx') return { grids: (await readWorkbook(path, { limits: memoryLimits })).sheets, reader: { format } };
  if (isRecordFormat(format)) {
    const { grid, columns } = await readRecordGrid(await openRecords(input), filename, memoryLimits.cellsInMemory);
    return { grids: [grid], reader: { format }, typed: columns };
  }
  const { encoding, delimiter } = input.reader ?? {};
  const text = await readCsv(path, { filename, encoding, delimiter, limits: memoryLimits });
  return { grids: [text.grid], reader: { format, encoding: text.encoding, delimiter: text.delimiter } };
}
