import { fitPage, unknownCursor } from '../pages.ts';
import {
  cursor,
  expectedVersion,
  idempotencyKey,
  type JsonSchema,
  limit,
  list,
  nextCursor,
  paramsOf,
  pick,
  readsOnly,
  shape,
  type Tool,
  table,
  text,
  whole,
  workbookId,
} from '../tool.ts';

const rowId = '__svc_row_id';
const columnList = list('Columns in order.', { type: 'object' });
const rowList = list('Rows, values by column name. Numbers with more than 15 digits may come as texts.', { type: 'object' });

const resultShape = shape({
  columns: columnList,
  rows: rowList,
  row_count: whole('Rows of the whole result.'),
  masked_columns: list('Columns that are null for you.', { type: 'string' }),
  tables: list('Tables that were read.', {}),
  next_cursor: nextCursor,
});

/** A result is known by its id, and a page of it by where it begins. */
function presentResult(body: unknown): Record<string, unknown> {
  const { id, next_offset, ...rest } = body as { id: string; next_offset: number | null };
  return {
    ...pick(rest, ['columns', 'rows', 'row_count', 'masked_columns', 'tables', 'expires_at']),
    next_cursor: next_offset === null ? null : `${id}:${next_offset}`,
  };
}

const editOutput = (counts: Record<string, JsonSchema>) =>
  shape({
    edit_version: whole('The new version: send it as `expected_version` of the next edit.'),
    op_id: whole('The change, for undoing it.'),
    ...counts,
    stale: list('Derived tables that are out of date now.', {}),
  });

/** Tools that read and change rows. */
export const dataTools: Tool[] = [
  {
    name: 'read_rows',
    title: 'Read rows',
    description: `Rows of a table, page by page, with their ids (${rowId}) and the version (edit_version) that an edit needs. For sums and joins use query.`,
    input: {
      workbook_id: workbookId,
      table,
      columns: list('Columns to read; all if left out.', { type: 'string' }),
      filter: text("Condition in SQL, for instance: 金額 > 1000 AND 部門 = '営業'."),
      sort: list('Columns to sort by; with `:desc` for descending.', { type: 'string' }),
      at_version: whole('An older version to read.', { minimum: 0 }),
      cursor,
      limit: limit(50, 500),
    },
    required: ['workbook_id', 'table'],
    output: shape({
      name: text('Name of the table.'),
      edit_version: whole('Version that was read.'),
      columns: columnList,
      rows: rowList,
      row_count: whole('Rows that match, over all pages.'),
      masked_columns: list('Columns that are null for you.', { type: 'string' }),
      next_cursor: nextCursor,
    }),
    annotations: readsOnly,
    async run({ ask }, given) {
      const { workbook_id: _workbook, table: _table, limit: most = 50, ...query } = given;
      return fitPage(Number(most), async (rows) => {
        const { body } = await ask('readRows', { params: paramsOf(given), query: { ...query, limit: rows } });
        return body as Record<string, unknown>;
      });
    },
  },
  {
    name: 'query',
    title: 'Query with SQL',
    description:
      'A read-only query in SQL (of DuckDB) over the tables of a workbook, by their names; quote names that are not plain words with double quotes. Aggregate in SQL rather than reading many rows. The result is kept for a day: read_result gives further pages.',
    input: {
      workbook_id: workbookId,
      sql: text('The SELECT.', { minLength: 1 }),
      params: { type: ['array', 'object'], description: 'Values for $1, $2 … or $name in the SQL.' },
      limit: limit(100, 1000),
    },
    required: ['workbook_id', 'sql'],
    output: resultShape,
    annotations: readsOnly,
    async run({ ask }, { workbook_id, limit: most = 100, ...query }) {
      const first = await ask('runQuery', { params: paramsOf({ workbook_id }), body: { ...query, limit: most } });
      const { id } = first.body as { id: string };
      let answered: unknown = first.body;
      // A page that is too long is read again from the result, which is there already.
      return fitPage(Number(most), async (rows) => {
        const body = answered ?? (await ask('getResult', { params: { result_id: id }, query: { limit: rows } })).body;
        answered = null;
        return presentResult(body);
      });
    },
  },
  {
    name: 'read_result',
    title: 'Read more of a result',
    description: 'The next page of the result of a query.',
    input: { cursor, limit: limit(100, 1000) },
    required: ['cursor'],
    output: resultShape,
    annotations: readsOnly,
    async run({ ask }, { cursor: place, limit: most = 100 }) {
      const [, id, offset] = /^([\w-]{1,60}):(\d{1,15})$/.exec(String(place)) ?? [];
      if (id === undefined) throw unknownCursor();
      return fitPage(Number(most), async (rows) =>
        presentResult((await ask('getResult', { params: { result_id: id }, query: { limit: rows, offset } })).body),
      );
    },
  },
  {
    name: 'edit_rows',
    title: 'Insert and update rows',
    description: `Writes rows in one edit: a row with ${rowId} changes the given cells of that row, one without is inserted; with key, rows are found by the values of these columns instead. If the table has changed since expected_version nothing is written: read it again and decide anew. Dates are texts (2026-04-01); write numbers of more than 15 digits as texts.`,
    input: {
      workbook_id: workbookId,
      table,
      expected_version: expectedVersion,
      rows: { ...list('The rows, values by column name.', { type: 'object' }), minItems: 1, maxItems: 1000 },
      key: list(`Columns that say which row is meant, instead of ${rowId}.`, { type: 'string' }),
      idempotency_key: idempotencyKey,
    },
    required: ['workbook_id', 'table', 'expected_version', 'rows'],
    output: editOutput({
      inserted: whole('Rows inserted.'),
      updated: whole('Rows changed.'),
      row_ids: list('Ids of the rows.', { type: 'integer' }),
    }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    async run({ ask }, given) {
      const { workbook_id: _workbook, table: _table, idempotency_key: key, ...body } = given;
      return (await ask('upsertRows', { params: paramsOf(given), body, idempotencyKey: key as string | undefined })).body as Record<
        string,
        unknown
      >;
    },
  },
  {
    name: 'delete_rows',
    title: 'Delete rows',
    description: `Deletes rows by their ids (${rowId}), in one edit, which can be undone. Nothing is deleted if the table has changed since expected_version.`,
    input: {
      workbook_id: workbookId,
      table,
      expected_version: expectedVersion,
      row_ids: { ...list('Ids of the rows.', { type: 'integer', minimum: 1 }), minItems: 1, maxItems: 1000 },
      idempotency_key: idempotencyKey,
    },
    required: ['workbook_id', 'table', 'expected_version', 'row_ids'],
    output: editOutput({ deleted: whole('Rows deleted.') }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run({ ask }, given) {
      const { workbook_id: _workbook, table: _table, idempotency_key: key, ...body } = given;
      return (await ask('deleteRows', { params: paramsOf(given), body, idempotencyKey: key as string | undefined })).body as Record<
        string,
        unknown
      >;
    },
  },
];
