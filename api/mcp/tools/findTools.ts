import { cutList } from '../pages.ts';
import { cursor, limit, list, nextCursor, paramsOf, pick, readsOnly, shape, type Tool, table, text, whole, workbookId } from '../tool.ts';

const workbookFields = ['id', 'title', 'workspace_id', 'governed', 'updated_at', 'counts'];
const tableFields = ['name', 'id', 'type', 'description', 'row_count', 'edit_version', 'freshness', 'layer', 'updated_at'];
const columnsAtOnce = { schema: 200, profile: 25 };

/** Tools to find tables and to learn what is in them. */
export const findTools: Tool[] = [
  {
    name: 'list_workbooks',
    title: 'List workbooks',
    description: 'Workbooks that this credential reaches, newest first. Begin here: other tools want the id of a workbook.',
    input: { cursor, limit: limit(25, 100) },
    output: shape({
      workbooks: list('The page.', shape({ id: text('Id.'), title: text('Title.') })),
      next_cursor: nextCursor,
    }),
    annotations: readsOnly,
    async run({ ask }, given) {
      const { body } = await ask('listWorkbooks', { query: { limit: 25, ...given } });
      const page = body as { workbooks: unknown[]; next_cursor: unknown };
      return { workbooks: page.workbooks.map((each) => pick(each, workbookFields)), next_cursor: page.next_cursor };
    },
  },
  {
    name: 'list_tables',
    title: 'List tables',
    description: 'Tables and views of a workbook with their size and version. Use get_schema for the columns of one.',
    input: { workbook_id: workbookId, cursor, limit: limit(50, 200) },
    required: ['workbook_id'],
    output: shape({
      tables: list(
        'The page.',
        shape({ name: text('Name, for SQL too.'), row_count: whole('Rows.'), edit_version: whole('Current version.') }),
      ),
      next_cursor: nextCursor,
    }),
    annotations: readsOnly,
    async run({ ask }, { workbook_id, ...query }) {
      const { body } = await ask('listTables', { params: paramsOf({ workbook_id }), query: { limit: 50, ...query } });
      const page = body as { tables: unknown[]; next_cursor: unknown };
      return { tables: page.tables.map((each) => pick(each, tableFields)), next_cursor: page.next_cursor };
    },
  },
  {
    name: 'search',
    title: 'Search tables',
    description: 'Finds tables of all workbooks by words in their names, columns, descriptions and frequent values.',
    input: { query: text('Words to look for.', { minLength: 1 }), cursor, limit: limit(20, 100) },
    required: ['query'],
    output: shape({ results: list('Hits, best first.', { type: 'object' }), next_cursor: nextCursor }),
    annotations: readsOnly,
    async run({ ask }, { query: q, ...query }) {
      return (await ask('searchArtifacts', { query: { q, limit: 20, ...query } })).body as Record<string, unknown>;
    },
  },
  {
    name: 'get_schema',
    title: 'Describe a table',
    description: `Columns of a table with types and descriptions, its rows and version. ${columnsAtOnce.schema} columns a page.`,
    input: { workbook_id: workbookId, table, cursor },
    required: ['workbook_id', 'table'],
    output: shape({
      name: text('Name.'),
      edit_version: whole('Version.'),
      row_count: whole('Rows.'),
      columns: list('Columns in order.', { type: 'object' }),
      masked_columns: list('Columns that read as null for you.', { type: 'string' }),
      next_cursor: nextCursor,
    }),
    annotations: readsOnly,
    async run({ ask }, given) {
      const { body } = await ask('getTableSchema', { params: paramsOf(given) });
      const { columns, ...rest } = body as { columns: object[] };
      const { items, next_cursor } = cutList(columns, given.cursor, columnsAtOnce.schema);
      const shown = items.map((each) => pick(each, ['name', 'type', 'masked', 'description']));
      return { ...pick(rest, ['name', 'edit_version', 'row_count', 'masked_columns']), columns: shown, next_cursor };
    },
  },
  {
    name: 'profile_table',
    title: 'Profile a table',
    description: `Figures of each column: nulls, distinct values, range, mean, frequent values. ${columnsAtOnce.profile} columns a page. Cheaper than reading rows.`,
    input: { workbook_id: workbookId, table, cursor },
    required: ['workbook_id', 'table'],
    output: shape({
      name: text('Name.'),
      edit_version: whole('Version.'),
      row_count: whole('Rows.'),
      columns: list('Columns in order.', { type: 'object' }),
      next_cursor: nextCursor,
    }),
    annotations: readsOnly,
    async run({ ask }, given) {
      const { columns, ...rest } = (await ask('profileTable', { params: paramsOf(given) })).body as { columns: unknown[] };
      const { items, next_cursor } = cutList(columns, given.cursor, columnsAtOnce.profile);
      return { ...rest, columns: items, next_cursor };
    },
  },
  {
    name: 'get_lineage',
    title: 'Show lineage',
    description:
      'What a table was made from (files, ranges, tables, transforms) and what is made from it (tables, sheets, charts, reports).',
    input: { workbook_id: workbookId, table },
    required: ['workbook_id', 'table'],
    output: shape({
      name: text('Name.'),
      nodes: list('Nodes of the graph.', { type: 'object' }),
      edges: list('From what was read to what was made.', { type: 'object' }),
    }),
    annotations: readsOnly,
    async run({ ask }, given) {
      return (await ask('getTableLineage', { params: paramsOf(given) })).body as Record<string, unknown>;
    },
  },
];
