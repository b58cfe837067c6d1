import { open, rm } from 'node:fs/promises';
import { DomainError } from '../../core/errors.ts';
import type { RecordColumn } from '../../core/records/records.ts';
import { quoteName, quoteText } from '../duckdb/relation.ts';
import { type ForeignFile, ForeignFileError } from '../duckdb/sandbox/readForeignFile.ts';
import type { Sandbox } from '../duckdb/sandbox/sandbox.ts';
import { describeParquetColumn, faultMark, type ParquetColumn } from './parquetTypes.ts';
import { checkColumnCount, checkRowCount, type RecordLimits, refuseLarge, refuseRecords } from './recordFile.ts';

export interface ParquetReading {
  sandbox: Sandbox;
  userId: string;
  /** Where the values are written to while they are read. */
  draft: string;
  limits: RecordLimits;
  signal?: AbortSignal;
  /** Reads only the first records. */
  firstRows?: number;
}

const timeoutMs = 10 * 60_000;
/** The engine holds a vector for each column, and needs memory for each. */
const mostColumns = 4_096;

/**
 * Reads Parquet in a query process, where a hostile file can neither take our memory nor anything else. The process writes the
 * values to the draft as texts, a line of JSON for each record.
 */
export async function unpackParquet(path: string, reading: ParquetReading): Promise<{ columns: RecordColumn[]; rows: number }> {
  const { sandbox, userId, draft, limits, signal } = reading;
  try {
    const { columns, rows } = await sandbox.readFile({ userId, path, timeoutMs, signal }, async (foreign) => {
      const found = await describe(foreign, limits, (await fileSize(path)) || 1);
      const select = await checkTexts(foreign, found.columns, limits, reading.firstRows);
      await foreign.query(`COPY (${select}) TO ${quoteText(foreign.outPath)} (FORMAT json)`);
      await foreign.takeOutput(draft);
      return found;
    });
    return { columns: columns.map(({ name, type }): RecordColumn => ({ name, type })), rows };
  } catch (error) {
    await rm(draft, { force: true });
    throw error instanceof ForeignFileError ? explain(error) : error;
  }
}

async function fileSize(path: string): Promise<number> {
  const handle = await open(path);
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

/** Columns and counts, checked before anything is unpacked. */
async function describe(
  foreign: ForeignFile,
  limits: RecordLimits,
  fileBytes: number,
): Promise<{ columns: ParquetColumn[]; rows: number }> {
  const file = quoteText(foreign.path);
  const [[rows, groups] = []] = await foreign.query(
    `SELECT CAST(num_rows AS VARCHAR), CAST(num_row_groups AS VARCHAR) FROM parquet_file_metadata(${file})`,
  );
  checkRowCount(Number(rows), limits);
  const described = await foreign.query(`DESCRIBE SELECT * FROM ${readParquet(foreign)}`);
  checkColumnCount(described.length, { ...limits, columns: Math.min(limits.columns, mostColumns) });
  if (Number(groups) > 0) {
    const [[bytes] = []] = await foreign.query(`SELECT CAST(sum(total_uncompressed_size) AS VARCHAR) FROM parquet_metadata(${file})`);
    const unpacked = Number(bytes);
    if (unpacked > limits.totalBytes || (unpacked > limits.ratioFromBytes && unpacked > limits.ratio * fileBytes))
      throw refuseLarge(`The file of ${fileBytes} bytes unpacks to ${unpacked} bytes, which is more than it may.`);
  }
  // DESCRIBE makes names unique; the schema has them as they were written. Children follow their parent.
  const schema = await foreign.query(`SELECT name, coalesce(CAST(num_children AS INTEGER), 0) FROM parquet_schema(${file})`);
  const names = topNames(schema.slice(1) as [string, number][]);
  const columns = described.map(([name, type], k) => describeParquetColumn(names[k] ?? String(name), String(type), `c${k + 1}`));
  return { columns, rows: Number(rows) };
}

function topNames(elements: [string, number][]): string[] {
  const names: string[] = [];
  for (let at = 0; at < elements.length; ) {
    names.push(String(elements[at]?.[0]));
    for (let open = 1; open > 0 && at < elements.length; at += 1) open += (elements[at]?.[1] ?? 0) - 1;
  }
  return names;
}

const readParquet = ({ path }: ForeignFile) => `read_parquet([${quoteText(path)}], hive_partitioning = false, file_row_number = false)`;

/** The SELECT of all values as texts. Sums up their length first: a small file can repeat one long text very often. */
async function checkTexts(foreign: ForeignFile, columns: ParquetColumn[], limits: RecordLimits, firstRows?: number): Promise<string> {
  const inner = columns.map(({ inner }) => inner).join(', ');
  const from = `${readParquet(foreign)} AS t(${inner})`;
  const limited = firstRows === undefined ? from : `(SELECT * FROM ${from} LIMIT ${firstRows})`;
  const select = `SELECT ${columns.map(({ sql, inner }) => `${sql} AS ${quoteName(inner)}`).join(', ')} FROM ${limited}`;
  const long = columns.filter(({ isLong }) => isLong);
  if (long.length === 0) return select;
  const length = long.map(({ sql }) => `coalesce(strlen(${sql}), 0)`).join(' + ');
  const [[sum, most] = []] = await foreign.query(
    `SELECT CAST(sum(n) AS VARCHAR), CAST(max(n) AS VARCHAR) FROM (SELECT ${length} AS n FROM ${limited})`,
  );
  if (Number(sum) > limits.totalBytes) throw refuseLarge(`The texts of the file are longer than ${limits.totalBytes} bytes.`);
  if (Number(most) > limits.rowBytes) throw refuseLarge(`The texts of one record are longer than ${limits.rowBytes} bytes.`);
  return select;
}

function explain(error: ForeignFileError): DomainError {
  const fault = error.message.split(faultMark)[1];
  if (fault !== undefined) return refuseRecords(fault.trim(), 'Correct the values, and send the file again.', error);
  switch (error.kind) {
    case 'too-large':
    case 'timeout':
      return new DomainError(
        'too-large',
        'Reading the file takes more memory or time than one file may take.',
        'Write it again with smaller row groups, or split it.',
        { cause: error },
      );
    default:
      return refuseRecords(
        'The Parquet file is damaged, cut off, encrypted, or of a kind that is not read.',
        'Write it again, and send that.',
        error,
      );
  }
}
