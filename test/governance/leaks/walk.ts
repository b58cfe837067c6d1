import type { Operation, OperationId } from '../../../api/http/contract.ts';
import { columns, deniedNames } from './canaries.ts';
import type { Caller, LeakWorld } from './world.ts';

export interface Asked {
  id: OperationId;
  method: string;
  path: string;
  body?: unknown;
  form?: Record<string, string>;
  accept?: string;
}

type Fill = (world: LeakWorld, caller: Caller, path: string) => (string | number)[];

const ofKind: [kind: RegExp, names: Fill][] = [
  [/\/transforms\//, () => ['derived', 'counted', 'seen', 'failing']],
  [/\/sheets\//, () => ['report']],
  [/\/charts\//, () => ['pay']],
  [/\/(tables|artifacts)\//, ({ tables }) => tables],
];

/** What stands for a parameter of a path. An operation with another one fails until it is told here. */
const pathValues: Record<string, Fill> = {
  workbook_id: ({ workbookId }) => [workbookId],
  workspace_id: ({ workspaceId }) => [workspaceId],
  name: (world, caller, path) => ofKind.find(([kind]) => kind.test(path))?.[1](world, caller, path) ?? [],
  source_name: ({ sources }) => sources,
  upload_id: () => [`upl_${'0'.repeat(26)}`],
  job_id: ({ jobs }) => jobs,
  link_id: ({ links }) => links,
  n: () => [1, 2],
  row_id: () => [1, 2, 3],
  webhook_id: ({ webhookId }) => [webhookId],
  result_id: (_, { resultId }) => [resultId ?? `res_${'0'.repeat(26)}`],
  label: ({ label }) => [label],
  page: () => ['api'],
  asset: () => ['swagger-ui.css'],
  provider: () => ['google_drive', 'onedrive'],
  // Pages of payments, which show nothing of workbooks.
  session_id: () => ['cs_nobodys'],
};

const hiddenNames = [columns.deniedText.name, columns.maskedText.name];

/** What is tried for each parameter of a query, one at a time. Nothing: it says where a page begins, or whose list it is. */
const queryValues: Record<string, (string | number)[]> = {
  ...Object.fromEntries(
    ['cursor', 'offset', 'before', 'folder_id', 'code', 'error', 'account_id', 'workspace_id', 'provision', 'days', 'wait', 'at'].map(
      (name) => [name, []],
    ),
  ),
  limit: [2],
  state: ['archived'],
  status: ['open'],
  format: ['json', 'json-schema', 'ndjson', 'csv', 'arrow', 'parquet', 'svg'],
  columns: ['person', ...hiddenNames],
  sort: [...hiddenNames, 'person:desc'],
  filter: [
    'person IS NOT NULL',
    ...hiddenNames.flatMap((name) => [`${name} > 'k'`, `error(${name})`, `CAST(${name} AS INTEGER) = 1`]),
    `CAST(COLUMNS(*) AS INTEGER) > 0`,
  ],
  at_version: [1, 2, 3],
  from: [1, 2],
  to: [3],
  against: [1],
  range: ['A1:Z20', 'C2', 'A1'],
  sheet: ['people'],
  q: ['kanarie', 'deny', 'made', columns.deniedText.name],
  role: ['viewer', 'payroll'],
  user_id: [],
  events: ['artifact.updated'],
  workbook_id: [],
};
const required: Record<string, string> = { from: '1', range: 'A1:Z20' };

/** Every address of a reader, with everything it can be asked. `brief`: only once for each thing that it reads. */
export function* askReader(operation: Operation, world: LeakWorld, caller: Caller, brief: boolean): Generator<Asked> {
  const asked = (path: string, accept?: string): Asked => ({ id: operation.id, method: 'GET', path, ...(accept ? { accept } : {}) });
  for (const path of fillPath(operation.path, world, caller)) {
    const parameters = [...operation.queryNames.keys()];
    const unknown = parameters.filter((name) => !(name in queryValues));
    if (unknown.length > 0) throw new Error(`what should be tried for ${unknown.join(', ')} of ${operation.id}?`);
    const needed = parameters.filter((name) => name in required).map((name) => `${name}=${required[name]}`);
    const withQuery = (...more: string[]) => {
      const changed = new Set(more.map((part) => part.split('=')[0]));
      const query = [...needed.filter((part) => !changed.has(part.split('=')[0])), ...more].join('&');
      return query ? `${path}?${query}` : path;
    };
    yield asked(withQuery());
    if (brief) continue;
    for (const type of operation.answerTypes.slice(1)) yield asked(withQuery(), type);
    for (const name of parameters)
      for (const value of queryValues[name] ?? []) yield asked(withQuery(`${name}=${encodeURIComponent(value)}`));
  }
}

function* fillPath(template: string, world: LeakWorld, caller: Caller): Generator<string> {
  const next = /\{(\w+)\}/.exec(template);
  if (!next) {
    yield template;
    return;
  }
  const fill = pathValues[next[1] as string];
  if (!fill) throw new Error(`what stands for {${next[1]}} of ${template}?`);
  for (const value of fill(world, caller, template)) yield* fillPath(template.replace(next[0], encodeURIComponent(value)), world, caller);
}

type Ask = (world: LeakWorld) => Omit<Asked, 'id' | 'method'>[];
const inBook = ({ workbookId }: LeakWorld, tail: string) => `/api/v1/workbooks/${workbookId}/${tail}`;
const bodies =
  (tail: string, ...all: unknown[]): Ask =>
  (world) =>
    all.map((body) => ({ path: inBook(world, tail), ...(body === undefined ? {} : { body }) }));

const { deniedText, deniedNumber, maskedText, maskedNumber } = columns;
const stale = { expected_version: 1 };
const newest = { expected_version: null };
const formats = ['xlsx', 'csv', 'parquet', 'ndjson'];
const queries = [
  'SELECT * FROM made',
  'SELECT * FROM people',
  'SELECT * FROM derived',
  'SELECT * FROM counted',
  'SELECT * FROM seen',
  `SELECT ${deniedText.name} FROM made`,
  `SELECT ${maskedText.name}, ${maskedNumber.name} + 1 FROM made`,
  'SELECT m FROM made m',
  'SELECT CAST(COLUMNS(*) AS INTEGER) FROM made',
];

/** Operations with another method that answer with something of a table: for owners and editors nothing is left out. */
const answering: Partial<Record<OperationId, Ask>> = {
  runQuery: bodies('query', ...queries.flatMap((sql) => [{ sql }, { sql, format: 'csv' }])),
  validateQuery: bodies('query/validate', ...queries.map((sql) => ({ sql }))),
  exportTables: (world) =>
    formats.flatMap((format) =>
      [['made'], world.tables].map((tables) => ({
        path: inBook(world, 'export'),
        body: { tables, format, include_row_ids: true, formula_mode: format === 'xlsx' ? 'preserve' : 'values' },
        accept: '*/*',
      })),
    ),
  upsertRows: bodies(
    'tables/made/rows',
    { rows: [{ __svc_row_id: 1, person: 'x' }], ...stale },
    { rows: [{ __svc_row_id: 1, [deniedText.name]: 'x' }], ...newest },
    { rows: [{ __svc_row_id: 1, [maskedText.name]: 'x' }], ...newest },
    { rows: [{ person: 'x' }], key: [deniedText.name], ...newest },
    { rows: [{ denysalar: 'x' }], ...newest },
  ),
  updateRow: bodies('tables/made/rows/1', { row: { person: 'x' }, ...stale }, { row: { [maskedNumber.name]: 1 }, ...newest }),
  deleteRows: bodies('tables/made/rows/delete', { row_ids: [1], ...stale }),
  writeRange: bodies('tables/made/range', { range: 'A2', values: [['x']], ...stale }, { range: 'C2:D2', values: [['x', 'x']], ...newest }),
  addColumn: bodies('artifacts/made/columns', { column: deniedText.name, ...newest }, { column: 'x', ...stale }),
  addTableColumn: bodies('tables/made/columns', { column: deniedNumber.name, ...newest }),
  alterColumn: bodies(`artifacts/made/columns/${deniedText.name}`, { new_type: 'BIGINT', ...newest }),
  alterTableColumn: bodies(`tables/made/columns/${maskedText.name}`, { new_type: 'BIGINT', ...newest }),
  describeColumn: bodies('artifacts/made/columns/denysalar/description', { description: 'x' }),
  describeTableColumn: bodies('tables/made/columns/denysalar/description', { description: 'x' }),
  annotateTable: bodies('tables/made/annotations', { annotations: [{ target: { column: 'denysalar' }, note: 'x' }] }),
  deleteAnnotations: bodies('tables/made/annotations/delete', { targets: [{ row_id: 999 }] }),
  createTransform: bodies(
    'transforms',
    { name: 'own', language: 'sql', template: 'SELECT * FROM {{ t }}', args: { t: 'made' }, run: true },
    { name: 'own', language: 'sql', template: `SELECT hash(${deniedText.name}) AS h FROM {{ t }}`, args: { t: 'made' }, run: true },
    { name: 'own', language: 'sql', template: 'SELECT denysalar FROM {{ t }}', args: { t: 'made' }, run: true },
  ),
  runTransform: bodies('transforms/failing/run', {}),
  bindSheet: bodies('artifacts/made/sync-bindings', { external_kind: 'google_sheets', direction: 'push', external_ref: 'made' }),
  recomputeWorkbook: bodies('recompute', undefined),
  putSheet: bodies('sheets/other', { spec: { blocks: [{ kind: 'table_view', table: 'made', columns: ['denysalar'] }] } }),
  mergeTable: (world) => [{ path: inBook(world, 'tables/made/merge?dry_run=true'), form: { branch_id: world.branchId } }],
  syncFile: (world) => [{ path: inBook(world, 'sync?dry_run=true'), form: { branch_id: world.branchId } }],
  resolveConflict: (world) =>
    world.conflicts.map((id) => ({ path: inBook(world, `conflicts/${id}/resolve`), body: { action: 'drop_override' } })),
  undoOp: (world) => world.opIds.map((id) => ({ path: inBook(world, `ops/${id}/undo?dry_run=true`) })),
  reviewWorkbook: bodies('review', { mode: 'lint' }, { mode: 'agent' }),
  analyzeSource: bodies('sources/people.xlsx/analyze', undefined),
  putParseSpec: bodies('sources/people.xlsx/parse-spec', { sheets: [] }),
  materializeSource: bodies('sources/people.xlsx/materialize', {}),
  revertFileLinkVersion: (world) => world.links.map((id) => ({ path: inBook(world, `file-links/${id}/versions/1/revert`) })),
  reviseSource: (world) => [{ path: inBook(world, 'sources/people.xlsx/revise'), form: {} }],
  dropColumn: bodies('artifacts/made/columns/denysalar?expected_version=null', undefined),
  dropTableColumn: bodies('tables/made/columns/denysalar?expected_version=null', undefined),
  deleteRow: bodies('tables/made/rows/1?expected_version=1', undefined),
  deleteTable: bodies('tables/made?expected_version=1', undefined),
};

/** They answer with what was sent, with ids and names that nobody hides, or with nothing. */
export const silent = new Set<OperationId>([
  ...(['signUp', 'logIn', 'logOut', 'createToken', 'revokeToken', 'createAccount', 'deleteAccount', 'createKey', 'revokeKey'] as const),
  ...(['openConsoleSession', 'closeConsoleSession', 'beginOidcLogIn', 'finishOidcLogIn'] as const),
  ...(['createWebhook', 'deleteWebhook', 'testWebhook', 'redeliverEvent', 'rotateWebhookSecret'] as const),
  ...(['configureAutoTopup', 'startCheckout', 'enablePayg', 'openBillingPortal', 'reuseCard', 'buyCredits'] as const),
  ...(['completeCheckout', 'submitPortal', 'receiveBillingCallback'] as const),
  ...(['createWorkspace', 'configureWorkspace', 'deleteWorkspace', 'addWorkspaceUser', 'removeWorkspaceUser', 'setUserRoles'] as const),
  ...([
    'createWorkbook',
    'updateWorkbook',
    'deleteWorkbook',
    'cancelJob',
    'uploadSource',
    'createUpload',
    'putUpload',
    'ingestUrl',
    'importCloudFile',
  ] as const),
  ...(['trackCloudFile', 'trackLocalFile', 'updateFileLink', 'syncFileLink', 'pushFileLinkVersion'] as const),
  ...([
    'describeArtifact',
    'archiveArtifact',
    'unarchiveArtifact',
    'createTable',
    'deleteTransform',
    'deleteSheet',
    'unbindSheet',
  ] as const),
  ...(['commitSnapshot', 'restoreSnapshot', 'createVersion', 'revertVersion'] as const),
  // Asked by the official client, tool by tool.
  ...(['postMcp', 'closeMcpSession'] as const),
  // They are for those who set the rules, and are told the column's name.
  ...(['tagColumn', 'untagColumn', 'setPolicy', 'deletePolicy'] as const),
]);

export function askOther(operation: Operation, world: LeakWorld): Asked[] | null {
  const asks = answering[operation.id];
  if (!asks) return null;
  return asks(world).map((asked) => ({ ...asked, id: operation.id, method: operation.method.toUpperCase() }));
}

/** Only these name denied columns, to those who set the rules. */
export const mayName = new Set<OperationId>(['previewAccess', 'listClassifications']);

/** A name that the caller has sent is no secret. */
export const saysName = ({ path, body }: Asked): boolean =>
  deniedNames.some((name) => `${path}${JSON.stringify(body ?? '')}`.includes(name));
