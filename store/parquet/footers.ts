import { closeSync, fstatSync, openSync } from 'node:fs';
import { type ColumnMetaData, type FileMetaData, parquetMetadata, type SchemaElement } from 'hyparquet';
import { countLookup } from '../cacheCounts.ts';
import type { Chunk, RowGroup } from './fileLayout.ts';
import { readBytes } from './pages.ts';
import { chooseTextDecoder, Unreadable } from './textDecoders.ts';

const widths: Partial<Record<Chunk['type'], number>> = { INT32: 4, INT64: 8, DOUBLE: 8 };
const trailerBytes = 8;
const guessedBytes = 65_536;
const known = new Map<string, RowGroup[]>();
/** Limits of the cache, in files and in column chunks: one file of a wide table has as many chunks as hundreds of others. */
const mostKnown = { files: 500, chunks: 500_000 };
let knownChunks = 0;
const countChunks = (groups: RowGroup[]) => groups.reduce((sum, { chunks }) => sum + chunks.length, 0);

/** Cached, since files never change; the least recently used footer is dropped first. */
export function readFooter(path: string, file: number, isWanted: (name: string) => boolean, idName: string): RowGroup[] {
  const before = known.get(path);
  if (before) {
    known.delete(path);
    known.set(path, before);
    countLookup('footers', 'hit');
    return before;
  }
  countLookup('footers', 'miss');
  const { schema, row_groups } = readMetadata(file);
  const leaves = schema.filter((element) => element.type !== undefined);
  const groups = row_groups.map(({ columns, num_rows }): RowGroup => {
    const chunks = columns.flatMap(({ meta_data: meta }, i) => {
      const [name, ...rest] = meta?.path_in_schema ?? [];
      return meta && name !== undefined && rest.length === 0 && isWanted(name) ? [describeChunk(meta, leaves[i] as SchemaElement)] : [];
    });
    const id = columns.find(({ meta_data: meta }) => meta?.path_in_schema[0] === idName)?.meta_data?.statistics;
    if (id?.min_value === undefined || id.max_value === undefined) throw new Unreadable('no bounds of the row ids');
    return { rows: Number(num_rows), minId: Number(id.min_value), maxId: Number(id.max_value), chunks };
  });
  keep(path, groups);
  return groups;
}

/** The bytes of a file's largest row group: what a reader of one row may have to hold. */
export function measureLargestGroup(path: string): number {
  const file = openSync(path, 'r');
  try {
    return Math.max(0, ...readMetadata(file).row_groups.map(({ total_byte_size }) => Number(total_byte_size)));
  } finally {
    closeSync(file);
  }
}

function readMetadata(file: number): FileMetaData {
  const { size } = fstatSync(file);
  let tail = readBytes(file, Math.max(0, size - guessedBytes), size);
  const needed = tail.readUInt32LE(tail.length - trailerBytes) + trailerBytes;
  if (needed > tail.length) tail = readBytes(file, size - needed, size);
  return parquetMetadata(tail, { geoparquet: false });
}

function keep(path: string, groups: RowGroup[]): void {
  knownChunks += countChunks(groups);
  known.set(path, groups);
  for (const [oldest, itsGroups] of known) {
    if (oldest === path || (known.size <= mostKnown.files && knownChunks <= mostKnown.chunks)) break;
    known.delete(oldest);
    knownChunks -= countChunks(itsGroups);
  }
}

function describeChunk(meta: ColumnMetaData, element: SchemaElement): Chunk {
  if (meta.codec !== 'UNCOMPRESSED') throw new Unreadable(meta.codec);
  const pagesAt = Number(meta.data_page_offset);
  const dictionaryAt = meta.dictionary_page_offset === undefined ? null : Number(meta.dictionary_page_offset);
  return {
    name: element.name,
    type: meta.type,
    width: meta.type === 'FIXED_LEN_BYTE_ARRAY' ? (element.type_length ?? 0) : (widths[meta.type] ?? null),
    optional: element.repetition_type === 'OPTIONAL',
    dictionaryAt,
    pagesAt,
    end: Math.min(dictionaryAt ?? pagesAt, pagesAt) + Number(meta.total_compressed_size),
    decodeText: chooseTextDecoder(element),
    pages: new Map(),
  };
}
