import { randomUUID } from 'node:crypto';
import { readFileSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBDataChunk, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api';
import { makeUnique } from '../../../../core/sql/identifiers.ts';
import { ChunkReader, FailedWhileRead } from '../../formats/chunkReader.ts';
import { rowJson } from '../../json.ts';
import { quoteText } from '../../relation.ts';
import { isWide, mostColumnsAtOnce } from '../../wide.ts';
import { type Executed, type ExecuteStep, type Params, pageSeparator, type ResultBody, type ResultColumn } from '../protocol.ts';
import { resultTypeName, resultTypeOf, storeColumn } from '../resultTypes.ts';
import { bindParams } from './bindParams.ts';
import { Failed, TimedOut, TooLarge } from './errors.ts';
import { openJsonRows } from './jsonRows.ts';
import { refuseDeepJson, refuseDeepType } from './refuseDeep.ts';
import type { Session } from './session.ts';

/** Set when the time is up; work stops at the next step. */
export interface Deadline {
  passed: boolean;
}

const resultTable = 'svc_result';
/** Columns of the result table are named by position, so that names of the query, such as `rowid`, cannot clash with ours. */
const heldName = (place: number) => `v${place}`;
const hold = (columns: ResultColumn[]) => columns.map((column, i) => ({ ...column, sql: heldName(i) }));

/**
 * Runs the query once. A small result goes from the engine's chunks to JSON; a larger one into a table, from which the page and
 * the file are made. Nothing of the query is left in the session afterwards.
 */
export async function execute(
  session: Session,
  query: { sql: string; params: Params },
  step: ExecuteStep,
  outDir: string,
  deadline: Deadline,
): Promise<{ executed: Executed; body: Buffer }> {
  const began = performance.now();
  // The text is never embedded in other SQL, so that exactly what was checked runs; DuckDB refuses several statements.
  const statement = await session.user.prepare(query.sql);
  let reader: ChunkReader | null = null;
  let hasTable = false;
  try {
    bindParams(statement, query.params);
    const result = await statement.stream();
    reader = new ChunkReader(session.user, result);
    const columns = describeColumns(result);
    const { first, small } = await readFirst(result, reader, step, deadline);
    if (small !== null) {
      stopWhenPassed(deadline);
      const executed = { columns, rowCount: small.rowCount, more: small.rowCount > step.pageLimit, elapsedMs: since(began) };
      return { executed: { ...executed, body: { kind: 'rows' } }, body: small.bytes };
    }
    hasTable = true;
    const { rowCount, more } = await collect(session, chain(first, reader), columns, step, deadline);
    stopWhenPassed(deadline);
    await reader.close();
    const elapsedMs = since(began);
    await refuseDeepJson(session.own, resultTable, hold(columns));
    stopWhenPassed(deadline);
    const page = (await writePage(session.own, columns, step)) ?? leaveOut(step);
    stopWhenPassed(deadline);
    const content = step.resultFile === null ? null : await writeFile(session.own, columns, rowCount, join(outDir, step.resultFile), step);
    stopWhenPassed(deadline);
    const body: ResultBody = content ? { kind: 'file', bytes: content.length } : { kind: 'page' };
    return { executed: { columns, rowCount, more, elapsedMs, body }, body: content ? Buffer.concat([page, content]) : page };
  } catch (error) {
    stopWhenPassed(deadline);
    throw error instanceof FailedWhileRead ? await explainFailure(session, statement) : error;
  } finally {
    await reader?.close().catch(() => {});
    statement.destroySync();
    if (hasTable) await session.own.run(`DROP TABLE IF EXISTS ${resultTable}`).catch(() => {});
  }
}

const since = (began: number) => Math.round((performance.now() - began) * 10) / 10;

/** Binds the query without running it. */
export async function bindQuery({ user }: Session, sql: string, params: Params): Promise<ResultColumn[]> {
  const statement = await user.prepare(sql);
  if (statement.parameterCount > 0) return describeWithParams(user, sql, params);
  const names = Array.from({ length: statement.columnCount }, (_, i) => statement.columnName(i));
  return makeUnique(names).map((name, i) => ({ name, type: resultTypeName(statement.columnType(i)) }));
}

/** For types that depend on parameters: only DESCRIBE with their values knows them. */
async function describeWithParams(user: DuckDBConnection, sql: string, params: Params): Promise<ResultColumn[]> {
  const statement = await user.prepare(`DESCRIBE\n${sql}`);
  bindParams(statement, params);
  const rows = (await statement.runAndReadAll()).getRows();
  return makeUnique(rows.map(([name]) => String(name))).map((name, i) => ({ name, type: resultTypeOf(String(rows[i]?.[1])) }));
}

function describeColumns(result: DuckDBResult): ResultColumn[] {
  const types = result.columnTypes();
  for (const type of types) refuseDeepType(type);
  return makeUnique(result.columnNames()).map((name, i) => ({ name, type: resultTypeName(types[i] as (typeof types)[number]) }));
}

/** Reads a result as long as it is small: `small` is the whole of it. Else `first` are the chunks that were read. */
async function readFirst(
  result: DuckDBResult,
  chunks: ChunkReader,
  step: ExecuteStep,
  deadline: Deadline,
): Promise<{ first: DuckDBDataChunk[]; small: { bytes: Buffer; rowCount: number } | null }> {
  const rows = isSmall(step, result) ? openJsonRows(makeUnique(result.columnNames()), result.columnTypes(), step.inlineBytes.rows) : null;
  const first: DuckDBDataChunk[] = [];
  let rowCount = 0;
  while (rows) {
    const chunk = await chunks.next();
    stopWhenPassed(deadline);
    if (chunk === null) return { first, small: { bytes: rows.end(), rowCount } };
    first.push(chunk);
    rowCount += chunk.rowCount;
    if (rowCount > step.maxRows || !rows.add(chunk)) break;
  }
  return { first, small: null };
}

async function* chain<T>(first: T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

/** Without a file, only a page is wanted, and the query need not run to its end. */
const isSmall = (step: ExecuteStep, result: DuckDBResult) =>
  step.resultFile !== null && step.inlineBytes.rows > 0 && !isWide(result.columnNames());

/** Copies chunks to the result table. Without a file, stops one row after the page, to know whether there are more. */
async function collect(
  { own }: Session,
  chunks: AsyncIterable<DuckDBDataChunk>,
  columns: ResultColumn[],
  step: ExecuteStep,
  deadline: Deadline,
): Promise<{ rowCount: number; more: boolean }> {
  await own.run(`CREATE TABLE ${resultTable} (${columns.map(({ type }, i) => `${heldName(i)} ${type}`).join(', ')})`);
  const appender = await own.createAppender(resultTable, 'main', 'memory');
  const enough = step.resultFile === null ? step.pageLimit : Number.POSITIVE_INFINITY;
  let rowCount = 0;
  try {
    for await (const chunk of chunks) {
      stopWhenPassed(deadline);
      appender.appendDataChunk(chunk);
      rowCount += chunk.rowCount;
      if (rowCount > enough) break;
      if (rowCount > step.maxRows) throw new TooLarge(`The result has more than ${step.maxRows} rows.`);
    }
    appender.flushSync();
  } finally {
    appender.closeSync();
  }
  return { rowCount: Math.min(rowCount, enough), more: rowCount > step.pageLimit };
}

/** Why a query failed after its first rows: runs it again to get the message, after freeing the memory of the result. */
async function explainFailure({ own }: Session, statement: DuckDBPreparedStatement): Promise<unknown> {
  await own.run(`DROP TABLE IF EXISTS ${resultTable}`);
  return statement.run().then(
    () => new Failed('The query failed after its first rows.'),
    (error: unknown) => error,
  );
}

/** Null: it is too long. */
async function writePage(own: DuckDBConnection, columns: ResultColumn[], { pageLimit, maxPageBytes }: ExecuteStep): Promise<Buffer | null> {
  if (pageLimit === 0) return Buffer.from('[]');
  // Its texts alone may be more than there is memory for.
  if ((await measureTexts(own, columns, pageLimit)) > maxPageBytes) return null;
  if (isWide(columns)) return writeWidePage(own, columns, pageLimit, maxPageBytes);
  const row = rowJson(hold(columns));
  const text = `SELECT string_agg(CAST(${row} AS VARCHAR), ${quoteText(pageSeparator)} ORDER BY rowid) AS rows FROM ${resultTable} WHERE rowid < ${pageLimit}`;
  const reader = await own.runAndReadAll(
    `SELECT strlen(rows) <= ${maxPageBytes}, CASE WHEN strlen(rows) <= ${maxPageBytes} THEN rows END FROM (${text})`,
  );
  const [fits, rows] = reader.getRows()[0] ?? [];
  return fits === false ? null : Buffer.from(`[${rows ?? ''}]`);
}

/** The length of all texts in the first rows. */
async function measureTexts(own: DuckDBConnection, columns: ResultColumn[], rows: number): Promise<number> {
  const lengths = hold(columns).flatMap(({ sql, type }) => (type === 'VARCHAR' || type === 'JSON' ? [`coalesce(strlen(${sql}), 0)`] : []));
  if (lengths.length === 0) return 0;
  const measured = await own.runAndReadAll(`SELECT CAST(sum(${lengths.join(' + ')}) AS DOUBLE) FROM ${resultTable} WHERE rowid < ${rows}`);
  return Number(measured.getRows()[0]?.[0] ?? 0);
}

function leaveOut({ resultFile, maxPageBytes }: ExecuteStep): Buffer {
  if (resultFile === null) throw new TooLarge(`The page is larger than ${maxPageBytes} bytes; ask for fewer rows or columns.`);
  return Buffer.alloc(0);
}

/** Writes some columns at a time, because DuckDB's JSON functions need memory for each column. */
async function writeWidePage(
  own: DuckDBConnection,
  columns: ResultColumn[],
  pageLimit: number,
  maxPageBytes: number,
): Promise<Buffer | null> {
  const held = hold(columns);
  const rows: string[] = [];
  for (let first = 0; first < held.length; first += mostColumnsAtOnce) {
    const part = rowJson(held.slice(first, first + mostColumnsAtOnce));
    const reader = await own.runAndReadAll(`SELECT CAST(${part} AS VARCHAR) FROM ${resultTable} WHERE rowid < ${pageLimit} ORDER BY rowid`);
    for (const [i, [text]] of reader.getRows().entries())
      rows[i] = first === 0 ? (text as string) : `${rows[i]?.slice(0, -1)},${(text as string).slice(1)}`;
    if (rows.reduce((sum, text) => sum + text.length, 0) > maxPageBytes) return null;
  }
  const page = Buffer.from(`[${rows.join(pageSeparator)}]`);
  return page.length > maxPageBytes ? null : page;
}

/**
 * Keys are content hashes; a random marker makes each unique, so deletion is safe. A small file is returned as bytes, because
 * passing on a file takes longer than most queries.
 */
async function writeFile(
  own: DuckDBConnection,
  columns: ResultColumn[],
  rowCount: number,
  path: string,
  { maxBytes, inlineBytes }: ExecuteStep,
): Promise<Buffer | null> {
  const stored = columns.map((column, i) => storeColumn(column, heldName(i)));
  const groupRows = fitGroup((await measureTexts(own, columns, rowCount)) / Math.max(1, rowCount));
  await own.run(
    `COPY (SELECT ${stored.join(', ')} FROM ${resultTable}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE ${groupRows}, USE_TMP_FILE false, KV_METADATA {svc_file: '${randomUUID()}'})`,
  );
  const { size } = statSync(path);
  if (size > maxBytes) throw new TooLarge(`The result is larger than ${maxBytes} bytes.`);
  if (size > inlineBytes.file) return null;
  const content = readFileSync(path);
  unlinkSync(path);
  return content;
}

/** Rows of a group: a reader holds the texts of a whole group, so long rows have small ones. DuckDB writes 2,048 at least. */
function fitGroup(textPerRow: number): number {
  const vector = 2_048;
  const wanted = Math.floor(groupBytes / Math.max(1, textPerRow) / vector) * vector;
  return Math.min(10 * vector, Math.max(vector, wanted));
}

const groupBytes = 8 * 1024 * 1024;

function stopWhenPassed({ passed }: Deadline): void {
  if (passed) throw new TimedOut('The query took too long.');
}
