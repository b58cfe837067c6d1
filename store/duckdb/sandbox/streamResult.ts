import type { Readable } from 'node:stream';
import { measureLargestGroup } from '../../parquet/footers.ts';
import type { StreamStorage } from '../engine.ts';
import { valueLength } from '../formats/rowParts.ts';
import { heavyBytes, streamParts } from '../formats/streamParts.ts';
import type { DataFormat } from '../formats/streamRows.ts';
import { quoteName } from '../relation.ts';
import { parseTypeName } from '../typeNames.ts';
import type { ResultColumn } from './protocol.ts';
import { selectResult, selectRows } from './resultTypes.ts';

interface Page {
  limit: number;
  offset: number;
}

/** Rows that are measured at once: of long ones no more than their groups have. */
const spanRows = { short: 20_000, long: 2_048 };

/** Streams the rows of a query's result, or a page of them. The file is released when the stream closes. */
export async function streamResultFile(
  storage: StreamStorage,
  columns: ResultColumn[],
  open: () => Promise<{ path: string; release(): void | Promise<void> }>,
  format: DataFormat,
  page: Page & { form: 'file' | 'rows'; most?: { bytes: number; refuse(): Error } },
): Promise<Readable> {
  const { path, release } = await open();
  const select = (page.form === 'rows' ? selectRows : selectResult)(path, columns);
  const hasHeavyGroups = page.form === 'file' && measureLargestGroup(path) > heavyBytes;
  return streamParts(
    storage,
    {
      columns: columns.map(({ name, type }) => ({ name, type: parseTypeName(type) })),
      spans: cutPage(page, hasHeavyGroups ? spanRows.long : spanRows.short),
      open: async (_, { limit, offset }) => ({ from: `(${select} LIMIT ${limit} OFFSET ${offset})`, release: async () => {} }),
      select: (from) => `SELECT * FROM ${from}`,
      place: null,
      lengths: columns.flatMap(({ name, type }) => valueLength(quoteName(name), type)),
      divide({ offset }, counts) {
        let before = offset;
        return counts.map((limit) => {
          before += limit;
          return { limit, offset: before - limit };
        });
      },
      hasHeavyGroups,
      most: page.most,
      close: release,
    },
    format,
    'quick',
  );
}

function* cutPage({ limit, offset }: Page, rows: number): Generator<Page, undefined> {
  const end = offset + limit;
  for (let at = offset; at === offset || at < end; at += rows) yield { limit: Math.min(rows, end - at), offset: at };
}
