import type { OperationId } from '../../api/http/contract.ts';
import { makeId } from '../../store/services.ts';
import { ok } from '../setup/api.ts';
import { editRows, makeTable } from '../setup/tables.ts';
import type { MakeSample } from './sample.ts';
import type { World } from './world.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** A table of two rows in the world's workbook, of its own for every sample: at version 2, `品目` text, `数` numbers. */
export interface SampleTable {
  name: string;
  /** Address of the workbook. */
  workbook: string;
  table: string;
  artifact: string;
  opId: number;
}

export async function makeSampleTable({ owner, workbook }: World): Promise<SampleTable> {
  const name = `表 ${makeId('tbl').slice(-12)}`;
  await makeTable(owner.client, workbook, name, [{ name: '品目' }, { name: '数', type: 'BIGINT' }]);
  const rows = [
    { 品目: 'りんご', 数: 1 },
    { 品目: 'みかん', 数: 2 },
  ];
  const { op_id } = await editRows(owner.client, workbook, name, rows, 1);
  const address = `/api/v1/workbooks/${workbook}`;
  const encoded = encodeURIComponent(name);
  return { name, workbook: address, table: `${address}/tables/${encoded}`, artifact: `${address}/artifacts/${encoded}`, opId: op_id };
}

export async function makeSnapshot({ owner, workbook }: World): Promise<string> {
  return ok(await owner.client.POST(`${base}/snapshots`, { params: { path: { workbook_id: workbook } }, body: { summary: 'a moment' } }))
    .id;
}

export async function makeLabel({ owner, workbook }: World): Promise<string> {
  const label = makeId('ver');
  ok(await owner.client.POST(`${base}/versions`, { params: { path: { workbook_id: workbook } }, body: { label } }));
  return label;
}

const column = encodeURIComponent('数');
const onTable =
  (make: (made: SampleTable) => { path: string; body?: unknown }): MakeSample =>
  async (world) =>
    make(await makeSampleTable(world));
const onWorkbook =
  (tail: string, body?: unknown): MakeSample =>
  ({ workbook }) => ({ path: `/api/v1/workbooks/${workbook}${tail}`, ...(body === undefined ? {} : { body }) });

export const tableSamples = {
  listMyData: () => ({ path: '/api/v1/me/data' }),
  searchArtifacts: () => ({ path: `/api/v1/search?q=${encodeURIComponent('表')}` }),

  listArtifacts: onWorkbook('/artifacts'),
  listTables: onWorkbook('/tables'),
  createTable: ({ workbook }) => ({
    path: `/api/v1/workbooks/${workbook}/tables`,
    body: { name: `表 ${makeId('tbl')}`, columns: [{ name: 'a' }] },
  }),
  getTable: onTable(({ table }) => ({ path: table })),
  deleteTable: onTable(({ table }) => ({ path: `${table}?expected_version=2` })),
  getTableSchema: onTable(({ table }) => ({ path: `${table}/schema?format=json-schema` })),
  getArtifactSchema: onTable(({ artifact }) => ({ path: `${artifact}/schema` })),
  describeArtifact: onTable(({ artifact }) => ({ path: `${artifact}/description`, body: { description: '月次' } })),
  archiveArtifact: onTable(({ artifact }) => ({ path: `${artifact}/archive` })),
  unarchiveArtifact: onTable(({ artifact }) => ({ path: `${artifact}/unarchive` })),
  profileTable: onTable(({ table }) => ({ path: `${table}/profile` })),
  getTableLineage: onTable(({ table }) => ({ path: `${table}/lineage` })),

  exportTables: onTable(({ workbook, name }) => ({
    path: `${workbook}/export`,
    body: { tables: [name], format: 'xlsx', record_branch: true, formula_mode: 'preserve', filename: '売上.xlsx' },
  })),
  listBranches: onWorkbook('/branches'),
  listColumns: onTable(({ table }) => ({ path: `${table}/columns` })),
  addColumn: onTable(({ artifact }) => ({ path: `${artifact}/columns`, body: { column: '備考', expected_version: 2 } })),
  alterColumn: onTable(({ artifact }) => ({ path: `${artifact}/columns/${column}`, body: { new_name: '数量', expected_version: 2 } })),
  dropColumn: onTable(({ artifact }) => ({ path: `${artifact}/columns/${column}?expected_version=2` })),
  describeColumn: onTable(({ artifact }) => ({ path: `${artifact}/columns/${column}/description`, body: { description: '個数' } })),

  addTableColumn: onTable(({ table }) => ({ path: `${table}/columns`, body: { column: '備考', expected_version: 2 } })),
  alterTableColumn: onTable(({ table }) => ({ path: `${table}/columns/${column}`, body: { new_name: '数量', expected_version: 2 } })),
  dropTableColumn: onTable(({ table }) => ({ path: `${table}/columns/${column}?expected_version=2` })),
  describeTableColumn: onTable(({ table }) => ({ path: `${table}/columns/${column}/description`, body: { description: '個数' } })),

  readRow: onTable(({ table }) => ({ path: `${table}/rows/1` })),
  updateRow: onTable(({ table }) => ({ path: `${table}/rows/1`, body: { expected_version: 2, row: { 数: 3 } } })),
  deleteRow: onTable(({ table }) => ({ path: `${table}/rows/1?expected_version=2` })),
  readTableData: onTable(({ table }) => ({ path: `${table}/data` })),
  readRows: onTable(({ table }) => ({ path: `${table}/rows` })),
  upsertRows: onTable(({ table }) => ({ path: `${table}/rows`, body: { expected_version: 2, rows: [{ __svc_row_id: 1, 数: 3 }] } })),
  deleteRows: onTable(({ table }) => ({ path: `${table}/rows/delete`, body: { expected_version: 2, row_ids: [1] } })),
  getRowHistory: onTable(({ table }) => ({ path: `${table}/rows/1/history` })),
  diffTable: onTable(({ table }) => ({ path: `${table}/diff?from=1&to=2` })),
  readRange: onTable(({ table }) => ({ path: `${table}/range?range=A1:B2` })),
  writeRange: onTable(({ table }) => ({ path: `${table}/range`, body: { range: 'B2', values: [[9]], expected_version: 2 } })),
  listAnnotations: onTable(({ table }) => ({ path: `${table}/annotations` })),
  annotateTable: onTable(({ table }) => ({
    path: `${table}/annotations`,
    body: { annotations: [{ target: { row_id: 1 }, note: '確認' }] },
  })),
  deleteAnnotations: onTable(({ table }) => ({ path: `${table}/annotations/delete`, body: { targets: [{ row_id: 1 }] } })),
  listOps: onWorkbook('/ops'),
  undoOp: onTable(({ workbook, opId }) => ({ path: `${workbook}/ops/${opId}/undo` })),

  runQuery: onWorkbook('/query', { sql: 'SELECT 1 AS n' }),
  validateQuery: onWorkbook('/query/validate', { sql: 'SELECT 1 AS n' }),
  async getResult({ owner, workbook }) {
    const result = ok(
      await owner.client.POST(`${base}/query`, { params: { path: { workbook_id: workbook } }, body: { sql: 'SELECT 1 AS n' } }),
    );
    return { path: `/api/v1/results/${(result as { id: string }).id}` };
  },

  listSnapshots: onWorkbook('/snapshots'),
  commitSnapshot: onWorkbook('/snapshots', { summary: '月次締め' }),
  restoreSnapshot: async (world) => ({ path: `/api/v1/workbooks/${world.workbook}/snapshots/${await makeSnapshot(world)}/restore` }),
  listVersions: onWorkbook('/versions'),
  createVersion: ({ workbook }) => ({ path: `/api/v1/workbooks/${workbook}/versions`, body: { label: makeId('ver') } }),
  getVersion: async (world) => ({ path: `/api/v1/workbooks/${world.workbook}/versions/${await makeLabel(world)}` }),
  revertVersion: async (world) => ({ path: `/api/v1/workbooks/${world.workbook}/versions/${await makeLabel(world)}/revert` }),
} satisfies Partial<Record<OperationId, MakeSample>>;
