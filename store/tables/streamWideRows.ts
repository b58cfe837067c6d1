import { Readable } from 'node:stream';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { csvCell, writeCsvLine } from '../../core/cells/csvText.ts';
import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import { rowIdField, type VisibleColumn } from '../../core/table/visibleTable.ts';
import { makeArrowTextWriter, type TextWriter } from '../duckdb/formats/arrowTexts.ts';
import { streamWritten } from '../duckdb/formats/parquetCopy.ts';
import type { DataFormat } from '../duckdb/formats/streamRows.ts';
import { eachYielding } from '../eachYielding.ts';
import { openColumn, ParquetFile } from '../parquet/parquetFile.ts';
import { storeType } from '../parquet/storedTypes.ts';
import { currentAccounts, runForAccounts } from '../pg/accountScope.ts';
import type { Projection } from './projection.ts';
import type { TableStorage } from './tableStorage.ts';
import { readWideRows, readWideTexts } from './wideRows.ts';

/** Cells that are held at a time. */
const partCells = 200_000;
const partBytes = 8 * 1024 * 1024;

/** How many rows are read at a time. */
export function wideRowsAtOnce({ visible: { at }, columns }: Projection): number {
  return Math.max(1, Math.floor(Math.min(partCells / columns.length, partBytes / estimateRowBytes(at, columns))));
}

/** Streams rows with very many columns by ids, in that order. */
export function streamWideRows(storage: TableStorage, projection: Projection, ids: number[], format: DataFormat): Promise<Readable> {
  const size = wideRowsAtOnce(projection);
  let next = 0;
  return streamWideParts(storage, projection, format, async () => {
    next += size;
    return ids.slice(next - size, next);
  });
}

type Bytes = string | Buffer;

interface PartWriter {
  begin(): Bytes;
  readPart(ids: number[]): Promise<Bytes>;
  end(): Bytes;
}

/** The same for ids that are found on the way; `nextIds` returns none at the end. Rejects if the first rows cannot be given. */
export async function streamWideParts(
  storage: TableStorage,
  projection: Projection,
  format: DataFormat,
  nextIds: () => Promise<number[]>,
): Promise<Readable> {
  if (format === 'parquet') return streamWritten(storage.blobs, (path) => writeWideParquet(storage, projection, nextIds, path));
  const writer =
    format === 'json' || format === 'ndjson'
      ? writeObjects(storage, projection, format === 'json')
      : writeTexts(
          storage,
          projection,
          format === 'arrow' ? makeArrowTextWriter(projection.columns) : makeCsvTextWriter(projection.columns),
        );
  // Parts are read by whoever reads the stream, outside of the request.
  const accounts = currentAccounts();
  const readNext = () =>
    runForAccounts(accounts, async () => {
      const ids = await nextIds();
      return ids.length === 0 ? null : writer.readPart(ids);
    });
  const head = writer.begin();
  const first = await readNext();
  async function* parts() {
    yield head;
    for (let part = first; part !== null; part = await readNext()) yield part;
    yield writer.end();
  }
  return Readable.from(parts(), { objectMode: false });
}

function writeObjects(storage: TableStorage, projection: Projection, isArray: boolean): PartWriter {
  let isFirst = true;
  return {
    begin: () => (isArray ? '[' : ''),
    async readPart(ids) {
      const rows = (await readWideRows(storage, projection, ids)).map(({ json }) => json);
      if (!isArray) return rows.map((row) => `${row}\n`).join('');
      const before = isFirst || rows.length === 0 ? '' : ',';
      isFirst &&= rows.length === 0;
      return before + rows.join(',');
    },
    end: () => (isArray ? ']' : ''),
  };
}

function writeTexts(storage: TableStorage, projection: Projection, writer: TextWriter): PartWriter {
  return {
    begin: writer.begin,
    async readPart(ids) {
      const { texts, rowCount } = await readWideTexts(storage, projection, ids);
      return writer.write(texts, rowCount);
    },
    end: writer.end,
  };
}

function makeCsvTextWriter(columns: VisibleColumn[]): TextWriter {
  const types = columns.map(({ type }) => parseColumnType(type) as ColumnType);
  const writeRow = (texts: (string | null)[][], row: number) =>
    writeCsvLine(types.map((type, i) => csvCell(type, texts[i]?.[row] ?? null)));
  return {
    begin: () => writeCsvLine(columns.map(({ name }) => name)),
    async write(texts, rowCount) {
      const lines: string[] = [];
      await eachYielding(Array(rowCount).keys(), (row) => {
        lines.push(writeRow(texts, row));
      });
      return lines.join('');
    },
    end: () => '',
  };
}

async function writeWideParquet(
  storage: TableStorage,
  projection: Projection,
  nextIds: () => Promise<number[]>,
  path: string,
): Promise<void> {
  const columns = projection.columns.map(({ id, name, type }, i) => ({
    // The service's own ids of columns say nothing to others, and the order of the file is that of its ids.
    fieldId: i + 1,
    name,
    type: id === rowIdField.id ? storeType({ kind: 'BIGINT' }) : storeType(parseColumnType(type) as ColumnType),
  }));
  const file = await ParquetFile.create(path);
  try {
    let isFirst = true;
    for (let ids = await nextIds(); ids.length > 0 || isFirst; ids = await nextIds()) {
      isFirst = false;
      const { texts, rowCount } = ids.length > 0 ? await readWideTexts(storage, projection, ids) : { texts: [], rowCount: 0 };
      const group: ReturnType<typeof openColumn>[] = [];
      await eachYielding(columns, (column, i) => {
        const opened = openColumn(column);
        for (const [row, text] of (texts[i] ?? []).entries()) if (text !== null) opened.values.putString(row, text);
        group.push(opened);
      });
      await file.writeGroup(rowCount, group);
    }
    await file.finish({});
  } catch (error) {
    await file.abandon();
    throw error;
  }
}
