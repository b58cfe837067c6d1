import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireTable } from '../../activities/tables/openTable.ts';
import type { ColumnEffect } from '../../core/table/visibleTable.ts';
import { putTags, raisePolicyVersion } from '../../store/pg/governance.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { makeForm } from '../contract/forms.ts';
import { mintToken } from '../setup/credentials.ts';
import { readSources } from '../setup/sources.ts';
import { cellsOf } from '../xlsx/makeWorkbook.ts';
import { columnName, fillHidden, formats, inFormats, tables } from './hiddenColumns.ts';
import { openTestStore, type TestStore } from './store.ts';

/**
 * Hides random columns from one credential and calls everything that shows something of tables with it. Every name and value
 * says which column it is of, so that an answer can be searched for what must not be in it.
 */

interface Asked {
  /** Path under the workbook, or from `/api`. */
  path: string;
  method?: string;
  body?: unknown;
  /** Fields of a form around a returned file. */
  form?: Record<string, string>;
  accept?: string;
  headers?: Record<string, string>;
  /** What it has to answer with; 200 unless told. */
  status?: number | number[];
}

/** Every operation that shows names or values of a table, and calls that do. */
type Readers = Record<string, (table: string, width: number) => Asked[]>;

const almostNames = ['col_1', 'col_2', 'col_3'];
/** Columns have two addresses. */
function columnCalls(ids: { add: string; alter: string; drop: string; describe: string }, address: string): Readers {
  // Nearly the name of a column: the answer names the nearest that the caller may see.
  const onAlmost = (rest: string, call: Partial<Asked>) => (table: string) =>
    almostNames.map((name) => ({ path: `${address}/${table}/columns/${name}${rest}`, status: 404, ...call }));
  return {
    [ids.add]: (table) => [
      { path: `${address}/${table}/columns`, method: 'POST', body: { column: 'another', expected_version: 2 }, status: 409 },
    ],
    [ids.alter]: onAlmost('', { method: 'PATCH', body: { new_name: 'x', expected_version: null } }),
    [ids.drop]: onAlmost('?expected_version=null', { method: 'DELETE' }),
    [ids.describe]: onAlmost('/description', { method: 'PUT', body: { description: 'x' } }),
  };
}

let mcpSession: Record<string, string> = {};
const callTool = (name: string, given: Record<string, unknown>) => ({
  method: 'tools/call',
  params: { name, arguments: name === 'search' ? given : { workbook_id: store.workbook.id, ...given } },
});

/** A sheet elsewhere, of another name for every table. */
const bound = (table: string) => ({ actor: 'test', external_kind: 'google_sheets', external_ref: `first of ${table}` });

const readers: Readers = {
  readRows: (table) =>
    inFormats(
      table,
      [
        'limit=3',
        'limit=10000',
        'limit=5&offset=2',
        'limit=5&sort=col_0_:desc',
        'limit=5&filter=col_0_%20IS%20NOT%20NULL',
        'limit=5&at_version=2',
      ].map((query) => `tables/${table}/rows?${query}`),
    ),
  readRow: (table) => ['1', '4', '7', '4?columns=col_0_', '4?at_version=2'].map((row) => ({ path: `tables/${table}/rows/${row}` })),
  readTableData: (table) =>
    inFormats(
      table,
      ['', '?columns=col_0_&at_version=2'].map((query) => `tables/${table}/data${query}`),
    ),
  readRange: (table) => [{ path: `tables/${table}/range?range=A1:ZZ5` }],
  getRowHistory: (table) => [1, 4].map((row) => ({ path: `tables/${table}/rows/${row}/history` })),
  getRowLineage: (table) => [{ path: `tables/${table}/rows/1/lineage` }],
  getTableLineage: (table) => [{ path: `tables/${table}/lineage` }, { path: `tables/${table}/lineage?format=svg` }],
  diffTable: (table) => [{ path: `tables/${table}/diff?from=2` }, { path: `tables/${table}/diff?from=1&to=2` }],
  profileTable: (table) => [{ path: `tables/${table}/profile` }],
  listColumns: (table) => [{ path: `tables/${table}/columns` }],
  getTable: (table) => [{ path: `tables/${table}` }],
  getTableSchema: (table) => [{ path: `tables/${table}/schema` }, { path: `tables/${table}/schema?format=json-schema` }],
  getArtifactSchema: (table) => [{ path: `artifacts/${table}/schema` }],
  listTables: () => [{ path: 'tables' }],
  listArtifacts: () => [{ path: 'artifacts' }],
  listMyData: () => [{ path: '/api/v1/me/data' }],
  searchArtifacts: (_, width) => Array.from({ length: Math.min(width, 8) }, (_each, n) => ({ path: `/api/v1/search?q=ol_${n}_` })),
  listAnnotations: (table) => [{ path: `tables/${table}/annotations` }],
  exportTables: (table) =>
    ['xlsx', 'csv', 'parquet', 'ndjson'].map((format) => ({
      path: 'export',
      method: 'POST',
      body: { tables: [table], format, include_row_ids: format === 'csv', formula_mode: format === 'xlsx' ? 'preserve' : 'values' },
      accept: '*/*',
    })),
  renderChart: (table) => [{ path: `charts/chart_of_${table}/svg`, accept: '*/*', status: 403 }],
  renderChartPng: (table) => [{ path: `charts/chart_of_${table}/png`, accept: '*/*', status: 403 }],
  postMcp: (table) =>
    [
      ...['read_rows', 'get_schema', 'profile_table', 'get_lineage'].map((name) => callTool(name, { table })),
      callTool('list_tables', {}),
      callTool('query', { sql: `SELECT * FROM ${table}` }),
      callTool('search', { query: columnName(0) }),
      { method: 'resources/read', params: { uri: `workbook://${store.workbook.id}/tables/${table}` } },
      { method: 'resources/list' },
    ].map((message) => ({ path: '/mcp', method: 'POST', body: { jsonrpc: '2.0', id: 1, ...message }, headers: mcpSession })),
  getSheet: (table) => [{ path: `sheets/of_${table}` }],
  renderSheet: (table) => [{ path: `sheets/of_${table}/render`, accept: '*/*' }],
  putSheet: (table) => [
    ...almostNames.map((name) => ({
      path: 'sheets/almost',
      method: 'PUT',
      body: { spec: { blocks: [{ kind: 'table_view', table, columns: [name, columnName(0)] }] } },
      status: 422,
    })),
    {
      path: 'sheets/first',
      method: 'PUT',
      body: { spec: { blocks: [{ kind: 'table_view', table, columns: [columnName(0)] }] } },
      status: [200, 201],
    },
  ],
  mergeTable: (table) => [{ path: `tables/${table}/merge?dry_run=true`, method: 'POST', form: { branch_id: branch }, status: [200, 404] }],
  syncFile: () => [{ path: 'sync?dry_run=true', method: 'POST', form: { branch_id: branch } }],
  listConflicts: () => [{ path: 'conflicts' }],
  resolveConflict: () =>
    conflictIds.map((id) => ({ path: `conflicts/${id}/resolve`, method: 'POST', body: { action: 'drop_override' }, status: [404, 409] })),
  runQuery: (table) => [{ path: 'query', method: 'POST', body: { sql: `SELECT * FROM ${table}` } }],
  getResult: () => formats.map((accept) => ({ path: `/api/v1/results/${lastResult}`, accept })),
  validateQuery: (table) => [{ path: 'query/validate', method: 'POST', body: { sql: `SELECT * FROM ${table}` } }],
  upsertRows: (table) => [
    { path: `tables/${table}/rows`, method: 'POST', body: { rows: [{ __svc_row_id: 1 }], expected_version: 2 }, status: 409 },
    ...almostNames.map((name) => ({
      path: `tables/${table}/rows`,
      method: 'POST',
      body: { rows: [{}], key: [name], expected_version: null },
      status: 422,
    })),
  ],
  updateRow: (table) => [{ path: `tables/${table}/rows/1`, method: 'PATCH', body: { row: {}, expected_version: 2 }, status: 409 }],
  deleteRow: (table) => [{ path: `tables/${table}/rows/1?expected_version=2`, method: 'DELETE', status: 409 }],
  deleteRows: (table) => [
    { path: `tables/${table}/rows/delete`, method: 'POST', body: { row_ids: [1], expected_version: 2 }, status: 409 },
  ],
  writeRange: (table) => [
    { path: `tables/${table}/range`, method: 'PUT', body: { range: 'A2:A2', values: [[null]], expected_version: 2 }, status: 409 },
    {
      path: `tables/${table}/range`,
      method: 'PUT',
      body: { range: 'A2:C4', values: Array(3).fill([null, null, null]), expected_version: null },
      // So many columns may not be left.
      status: [200, 422],
    },
  ],
  ...columnCalls({ add: 'addColumn', alter: 'alterColumn', drop: 'dropColumn', describe: 'describeColumn' }, 'artifacts'),
  ...columnCalls({ add: 'addTableColumn', alter: 'alterTableColumn', drop: 'dropTableColumn', describe: 'describeTableColumn' }, 'tables'),
  deleteTable: (table) => [{ path: `tables/${table}?expected_version=2`, method: 'DELETE', status: 409 }],
  annotateTable: (table) => [
    {
      path: `tables/${table}/annotations`,
      method: 'POST',
      body: { annotations: [{ target: { column: 'nothing' }, note: 'x' }] },
      status: 422,
    },
  ],
  deleteAnnotations: (table) => [{ path: `tables/${table}/annotations/delete`, method: 'POST', body: { targets: [{ row_id: 999_999 }] } }],
  listTransforms: () => [{ path: 'transforms' }],
  getTransform: (table) => [{ path: `transforms/every_of_${table}` }],
  // Hidden columns that it would use are refused; what is wrong with it is said by names that the caller may see.
  createTransform: (table) => [
    {
      path: 'transforms',
      method: 'POST',
      body: { name: `all_of_${table}`, language: 'sql', template: 'SELECT * FROM {{ t }}', args: { t: table }, run: false },
      status: [200, 201, 403],
    },
    {
      path: 'transforms',
      method: 'POST',
      body: {
        name: `first_of_${table}`,
        language: 'sql',
        template: `SELECT ${columnName(0)} FROM {{ t }}`,
        args: { t: table },
        run: false,
      },
      status: [200, 201],
    },
    ...almostNames.map((name) => ({
      path: 'transforms',
      method: 'POST',
      body: { name: 'almost', language: 'sql', template: `SELECT ${name} FROM {{ t }}`, args: { t: table }, run: false },
      status: 400,
    })),
  ],
  undoOp: () => [{ path: `ops/${undone}/undo`, method: 'POST', status: [403, 409] }],
  previewAccess: (table) => [{ path: `tables/${table}/access` }, { path: `tables/${table}/access?role=viewer` }],
  listClassifications: () => [{ path: 'classifications' }],
  listSyncBindings: (table) => [{ path: `artifacts/${table}/sync-bindings` }],
  bindSheet: (table) => [
    {
      path: `artifacts/${table}/sync-bindings`,
      method: 'POST',
      body: { ...bound(table), ownership_map: { [columnName(0)]: 'x' } },
      status: 201,
    },
    ...almostNames.map((name) => ({
      path: `artifacts/${table}/sync-bindings`,
      method: 'POST',
      body: { ...bound(table), ownership_map: { [name]: 'x' } },
      status: 422,
    })),
  ],
};

/** Operations that show nothing of a table but its name, or nothing of tables at all; raw files are refused where there are policies. */
const others = [
  ...['describeArtifact', 'archiveArtifact', 'unarchiveArtifact', 'createTable'],
  ...['listSnapshots', 'commitSnapshot', 'restoreSnapshot', 'listVersions', 'createVersion', 'getVersion', 'revertVersion'],
  ...['listOps', 'listAuditLog', 'listBranches'],
  // On a governed workbook, charts are listed without what they are made of.
  ...['listSheets', 'deleteSheet', 'listCharts'],
  ...['unbindSheet'],
  ...['deleteTransform', 'runTransform', 'recomputeWorkbook'],
  // Refused where there are policies.
  'reviewWorkbook',
  // Only who may set policies calls them, and they name any column.
  ...['tagColumn', 'untagColumn', 'listPolicies', 'setPolicy', 'deletePolicy'],
  // Answers of tools that change something, whose operations are here themselves.
  ...['openMcpStream', 'closeMcpSession'],
];
const otherPaths =
  /^\/api\/(control|auth|oauth)\/|^\/api\/v1\/(me$|me\/(?!data)|auth|cloud-files|jobs|uploads|workbooks$|workbooks\/\{workbook_id\}$|workbooks\/\{workbook_id\}\/(sources|file-links|uploads|jobs))|^\/$|^\/(health|ready|metrics|docs|guide|openapi|console)/;

let store: TestStore;
let token: string;
let undone: number;
let lastResult = '';
/** An export of the narrow table, and conflicts on each of its columns. */
let branch = '';
let conflictIds: string[] = [];
let effects: ReadonlyMap<string, ColumnEffect> = new Map();

/** A file with a new value in the first column, which is never hidden. */
function makeReturned(fields: Record<string, string>): FormData {
  return makeForm({ fields, files: [{ name: 'narrow.csv', content: `__svc_row_id,${columnName(0)}\n1,val_0_edited\n` }] });
}

async function ask({ path, method = 'GET', body, form, accept = 'application/json', headers: more }: Asked) {
  const address = path.startsWith('/') ? path : `/api/v1/workbooks/${store.workbook.id}/${path}`;
  const headers = { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more };
  const sent = form ? { body: makeReturned(form) } : body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await store.api.fetch(address, { method, headers, token, ...sent });
  const bytes = Buffer.from(await answer.arrayBuffer());
  // In a workbook nothing can be found as it is.
  const text =
    bytes.subarray(0, 2).toString() === 'PK' ? JSON.stringify((await readWorkbook(bytes)).sheets.map(cellsOf)) : bytes.toString();
  return { status: answer.status, text };
}

beforeAll(async () => {
  store = await openTestStore();
  token = (await mintToken(store.owner.client, { scopes: ['workbooks:read', 'workbooks:write'] })).text;
  ({ mcpSession, undone, branch, conflictIds } = await fillHidden(store, token));
});
afterAll(() => store.stop());

/** Tags the columns of both tables anew: a tag is named as what its rule does. */
async function hide(drawn: ReadonlyMap<string, ColumnEffect>): Promise<void> {
  effects = drawn;
  const { id: workbookId, accountId } = store.workbook;
  const opened = await Promise.all(Object.keys(tables).map((name) => requireTable(store.services, workbookId, name)));
  const rows = opened.flatMap(({ table, columns }) =>
    columns.flatMap(({ id: columnId, name }) =>
      (['mask', 'deny'] as const).map((tag) => {
        const origin = drawn.get(name) === tag ? ('direct' as const) : ('removed' as const);
        return { tableId: table.id, workbookId, accountId, columnId, tag, origin, actor: 'test', createdAt: new Date() };
      }),
    ),
  );
  await store.commit(async (tx) => {
    await putTags(tx, rows);
    await raisePolicyVersion(tx, workbookId);
  });
}

/** What an answer says that it must not: values of hidden columns, names of denied ones. */
function findLeaks(text: string): string[] {
  const said = new Set(text.match(/(col|val)_\d+_/g));
  return [...effects].flatMap(([name, effect]) => {
    const value = name.replace('col', 'val');
    return [...(said.has(value) ? [value] : []), ...(effect === 'deny' && said.has(name) ? [name] : [])];
  });
}

async function checkReaders(table: keyof typeof tables, only: string[] = Object.keys(readers)): Promise<void> {
  for (const id of only) {
    let told = '';
    for (const asked of readers[id]?.(table, tables[table]) ?? []) {
      const { status, text } = await ask(asked);
      expect([id, asked.path, status, [asked.status ?? 200].flat().includes(status) ? '' : text]).toEqual([id, asked.path, status, '']);
      expect([id, asked.path, asked.accept, findLeaks(text)]).toEqual([id, asked.path, asked.accept, []]);
      if (id === 'runQuery') lastResult = (JSON.parse(text) as { id: string }).id;
      told += text;
    }
    // Else nothing would have been looked for.
    if (!silent.has(id)) expect([id, /(col|val)_0_/.test(told)]).toEqual([id, true]);
  }
}

/** Answers that name no column where nothing is wrong. */
const silent = new Set([
  ...['renderChart', 'renderChartPng'],
  ...['getTransform', 'getRowLineage', 'getTableLineage', 'deleteAnnotations', 'annotateTable', 'undoOp', 'resolveConflict'],
  'listClassifications',
  ...['alterColumn', 'dropColumn', 'describeColumn', 'alterTableColumn', 'dropTableColumn', 'describeTableColumn'],
]);

const anyEffect = fc.constantFrom<ColumnEffect | null>(null, 'mask', 'deny');
/** The first column is always shown: calls sort and filter by it. */
const anyEffects = (width: number) =>
  fc
    .array(anyEffect, { minLength: width - 1, maxLength: width - 1 })
    .map((drawn) => new Map(drawn.flatMap((effect, i) => (effect ? [[columnName(i + 1), effect] as const] : []))));

describe('columns that policies hide', () => {
  it('are hidden by every operation that shows something of a table', async () => {
    const known = new Set<string>([...Object.keys(readers), ...others]);
    const unknown = store.api.contract.operations.filter(({ id, path }) => !known.has(id) && !otherPaths.test(path));
    expect(unknown.map(({ id, path }) => `${id} ${path}`)).toEqual([]);
    await fc.assert(
      fc.asyncProperty(anyEffects(tables.narrow), async (drawn) => {
        await hide(drawn);
        await checkReaders('narrow');
      }),
      {
        numRuns: 4,
        examples: [
          [
            new Map([
              [columnName(1), 'mask'],
              [columnName(2), 'deny'],
            ]),
          ],
        ],
      },
    );
  }, 600_000);

  it('are hidden in tables of very many columns, which are read in another way', async () => {
    await hide(fc.sample(anyEffects(tables.wide), 1)[0] ?? new Map());
    await checkReaders('wide', [
      'readRows',
      'readRow',
      'readTableData',
      'readRange',
      'diffTable',
      'getRowHistory',
      'profileTable',
      'runQuery',
      'getResult',
      'exportTables',
      'getSheet',
      'renderSheet',
    ]);
    // So many are denied that what is left is not wide.
    await hide(new Map(Array.from({ length: 400 }, (_, n) => [columnName(n + 1), 'deny'])));
    await checkReaders('wide', ['readRows', 'readTableData', 'exportTables', 'readRange', 'diffTable', 'getRowHistory']);
  }, 600_000);

  it('are looked up in one place, and read past it by what is listed here', async () => {
    const sources = await readSources(['activities', 'api', 'store', 'workflows']);
    const callers = (word: RegExp) => sources.filter(({ text }) => word.test(text)).map(({ path }) => path);
    expect(callers(/columnEffects\(/)).toEqual(['activities/tables/openVisibleTable.ts', 'store/policies.ts']);
    // Compaction, retypes, whole rows for edits, merges and revised files, runs of transforms; row ids alone.
    expect(callers(/seeEverything\(/).sort()).toEqual([
      'activities/ingest/findTwins.ts',
      'activities/merge/prepareMerge.ts',
      'activities/transforms/planRun.ts',
      'store/tables/findEditedRows.ts',
      'store/tables/openRelation.ts',
      'store/tables/readStoredRows.ts',
      'store/tables/rowHashes.ts',
      'store/tables/writeDerived.ts',
      'store/tables/writeSegments.ts',
      'store/tables/writeWideSpan.ts',
      'store/tables/writtenColumns.ts',
    ]);
  });
});
