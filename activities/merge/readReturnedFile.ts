import { DomainError, notFound, type ProblemItem } from '../../core/errors.ts';
import type { HeaderFault, MatchedHeader } from '../../core/merge/matchHeader.ts';
import type { PackedRow } from '../../core/merge/packedRow.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import type { ReturnedSheet } from '../ingest/fileProgram/requests.ts';
import { type OpenFile, workOnSentFile } from '../ingest/workOnFile.ts';
import { cleanFilename } from '../sources/receiveFile.ts';
import { recogniseFile } from '../sources/recogniseFile.ts';

const timeMs = 60_000;

export interface SentFile {
  path: string;
  filename: string;
}

/** A file that came back, while it is being read. */
export interface ReturnedFile {
  /** The branch that it says it is of. */
  branchId: string | null;
  sheets: ReturnedSheet[];
  compareRows(sheet: number, header: MatchedHeader, base: BaseRows): Promise<DifferingRows>;
}

/** The rows of the export. */
export interface BaseRows {
  /** Ids of the columns. */
  columns: number[];
  /** Gives them in batch files, one after the other. */
  eachFile(take: (path: string) => Promise<void>): Promise<void>;
}

export interface DifferingRows {
  rows: PackedRow[];
  /** Rows of the file that nobody edited. */
  unchanged: number;
}

/** Strangers wrote the file, so it is read in a process of its own. */
export async function readReturnedFile<T>(
  services: Services,
  userId: string,
  sent: SentFile,
  work: (file: ReturnedFile) => Promise<T>,
): Promise<T> {
  const filename = cleanFilename(sent.filename, '/file');
  const { format } = await recogniseFile(sent.path, filename);
  if (format !== 'xlsx' && format !== 'csv' && format !== 'tsv')
    throw new DomainError(
      'unsupported-media',
      `A file of the format ${format} cannot be merged.`,
      'Send the xlsx or csv file that was exported.',
    );
  return workOnSentFile(services, userId, { path: sent.path, format, filename }, { timeMs }, async (file) => {
    const { branchId, sheets } = await file.ask('openReturned', { input: file.input });
    return work({ branchId, sheets, compareRows: (...wanted) => compareRows(file, ...wanted) });
  });
}

async function compareRows(file: OpenFile, sheet: number, header: MatchedHeader, base: BaseRows): Promise<DifferingRows> {
  const columns = header.columns.map(({ place, column }) => ({ place, type: column.type, base: base.columns.indexOf(column.id) }));
  const found: DifferingRows = { rows: [], unchanged: 0 };
  const add = (answer: Buffer) => {
    const [unchanged, ...lines] = answer.toString().split('\n');
    found.unchanged += Number(unchanged);
    for (const line of lines) found.rows.push(JSON.parse(line) as PackedRow);
  };
  add(await file.ask('beginComparison', { sheet, rowId: header.rowId, columns }));
  await base.eachFile(async (path) => add(await file.ask('compareRows', { base: await file.share(path) })));
  add(await file.ask('endComparison', {}));
  return found;
}

/**
 * Finds the sheet of a table: by the mark in it, else by its name, else the only one that is left. Programs that rename a sheet
 * and not what refers to it lose its mark. `tableIds` are those of the branch.
 */
export function findSheet(sheets: ReturnedSheet[], table: { id: string; name: string }, tableIds: string[]): number {
  const marked = sheets.findIndex(({ tableId }) => tableId === table.id);
  if (marked >= 0) return marked;
  const named = sheets.findIndex(({ name }) => name === table.name);
  if (named >= 0) return named;
  if (sheets.length === 1 && sheets[0]?.tableId === null) return 0;
  const unmarked = sheets.flatMap(({ tableId, header }, place) => (tableId === null && header.includes(rowIdColumn) ? [place] : []));
  const lost = tableIds.filter((id) => !sheets.some(({ tableId }) => tableId === id));
  if (unmarked.length === 1 && lost.length === 1 && lost[0] === table.id) return unmarked[0] as number;
  throw notFound(`sheet of the table ${table.name} in the file`, 'Send the file with all of its sheets, or merge the tables one by one.');
}

export function refuseHeader(sheet: string, faults: HeaderFault[]): DomainError {
  const errors: ProblemItem[] = faults.map(({ name, why }) => ({ pointer: `/file/${sheet}/1/${name}`, detail: why }));
  const [first] = faults;
  return new DomainError(
    'validation-failed',
    `The header of ${sheet} does not fit: ${first?.name} ${first?.why}.`,
    'Correct the first row of the sheet as `errors` says; nothing was changed.',
    { errors },
  );
}

/** Merged cells hold one value for several rows, and would clear the others. */
export function refuseMergedCells({ name, merged }: ReturnedSheet): void {
  if (!merged) return;
  throw new DomainError(
    'validation-failed',
    `The sheet ${name} has merged cells in row ${merged.top}.`,
    'Unmerge the cells and fill in their values; nothing was changed.',
    { errors: [{ pointer: `/file/${name}/${merged.top}`, detail: 'has merged cells' }] },
  );
}
