import type { Caller, LeakWorld } from './world.ts';

type Given = Record<string, unknown>;

/** What is tried for each argument that a tool must have. A tool with another one fails until it is told here. */
const values: Record<string, (world: LeakWorld, caller: Caller) => unknown[]> = {
  workbook_id: ({ workbookId }) => [workbookId],
  table: ({ tables }) => tables,
  sql: () => ['SELECT * FROM made', 'SELECT * FROM seen', 'SELECT CAST(COLUMNS(*) AS INTEGER) FROM people'],
  query: () => ['kanarie', 'deny', 'made'],
  result_id: (_, { resultId }) => [resultId ?? `res_${'0'.repeat(26)}`],
  job_id: ({ jobs }) => jobs,
  cursor: (_, { resultId }) => [`${resultId}:0`],
  upload_id: () => [`upl_${'0'.repeat(26)}`],
  name: () => ['pay'],
  chart: () => ['pay'],
  config: () => [{ mark: 'bar', encoding: { x: { field: 'person' }, y: { field: 'denysalar' } } }],
  title: () => ['x'],
  filename: () => ['made.csv'],
  // An old one: what has changed since is told with the refusal.
  expected_version: () => [1],
  rows: () => [[{ __svc_row_id: 1, person: 'x' }]],
  row_ids: () => [[1]],
};

/** They make or take away what the others ask for, and answer with its name. */
const left = new Set(['create_workbook', 'delete_chart', 'upload_file']);

export function askTool(name: string, schema: { required?: string[] }, world: LeakWorld, caller: Caller): Given[] {
  if (left.has(name)) return [];
  let all: Given[] = [{}];
  for (const argument of schema.required ?? []) {
    const tried = values[argument];
    if (!tried) throw new Error(`what should be tried for ${argument} of ${name}?`);
    all = all.flatMap((given) => tried(world, caller).map((value) => ({ ...given, [argument]: value })));
  }
  return all;
}
