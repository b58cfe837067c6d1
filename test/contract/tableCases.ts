import type { OperationId } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { ok } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { setPolicy } from '../setup/governance.ts';
import { editRows, makeTable } from '../setup/tables.ts';
import { type Case, sampleToRefuse } from './genericCases.ts';
import { makeBinding } from './governanceSamples.ts';
import type { MakeSample, Sample } from './sample.ts';
import { makeSample, sendSample } from './samples.ts';
import { sheetSamples } from './sheetSamples.ts';
import { makeLabel, makeSampleTable, type SampleTable } from './tableSamples.ts';
import type { World } from './world.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;

type Change = (sample: Sample, world: World) => Partial<Sample> | Promise<Partial<Sample>>;

/** A sample of its own, changed: where also what it is about is changed. */
export const changed =
  (change: Change): Case =>
  async (world, operation) => {
    const sample = await makeSample(world, operation);
    return sendSample(world, operation, { ...sample, ...(await change(sample, world)) });
  };

/** The same with the sample that all refusals of the operation share: where the request alone is another. */
export const altered =
  (change: Change): Case =>
  async (world, operation) => {
    const sample = await sampleToRefuse(world, operation);
    return sendSample(world, operation, { ...sample, ...(await change(sample, world)) });
  };

export const body = (fields: Record<string, unknown>): Case => altered((sample) => ({ body: { ...(sample.body as object), ...fields } }));
/** The sample of the operation in a workbook of its own, which has a policy. */
export const governed = (make: MakeSample): Case =>
  altered(async (_, world) => {
    const workbook = await makeWorkbook(world.owner.client, 'Governed', world.team);
    const sample = await make({ ...world, workbook });
    await setPolicy(world.owner.client, workbook, 'pii', 'mask');
    return sample;
  });
const staleVersion: Case = altered((sample) =>
  sample.body === undefined
    ? { path: sample.path.replace('expected_version=2', 'expected_version=1') }
    : { body: { ...(sample.body as object), expected_version: 1 } },
);

/** The table named in a path of its own. */
function tableName(path: string): string {
  return decodeURIComponent(/(?:tables|artifacts)\/([^/?]+)/.exec(path)?.[1] ?? '');
}

const archived: Case = changed(async (sample, { owner, workbook }) => {
  ok(
    await owner.client.POST(`${base}/artifacts/{name}/archive`, {
      params: { path: { workbook_id: workbook, name: tableName(sample.path) } },
    }),
  );
  return {};
});

const withTable = (make: (made: SampleTable, world: World) => Partial<Sample> | Promise<Partial<Sample>>): Case =>
  altered(async (_, world) => make(await makeSampleTable(world), world));

/** A version that was there and is not kept any more. */
const forgottenVersion = (path: (made: SampleTable) => string): Case =>
  withTable(async (made, { api }) => {
    await api.sql.query('DELETE FROM table_versions v USING tables t WHERE t.id = v.table_id AND t.name = $1 AND v.edit_version = 1', [
      made.name,
    ]);
    return { path: path(made) };
  });

const filter = (text: string): Case => withTable(({ table }) => ({ path: `${table}/rows?filter=${encodeURIComponent(text)}` }));
const endless = '(SELECT count(*) FROM range(100000) a, range(100000) b, range(1000) c) > 0';
const huge = "length(repeat('a', 4000000000)) > 0";

const addCases = { 'version-conflict': staleVersion, 'name-taken': body({ column: '数' }), 'in-use': archived };
const alterCases = (addressOf: (made: SampleTable) => string) => ({
  'uncastable-value': withTable((made) => ({
    path: `${addressOf(made)}/columns/${encodeURIComponent('品目')}`,
    body: { type: 'BIGINT', expected_version: 2 },
  })),
  // Only a new type writes the column again.
  'quota-exceeded': withTable((made) => ({
    path: `${addressOf(made)}/columns/${encodeURIComponent('数')}`,
    body: { type: 'VARCHAR', expected_version: 2 },
  })),
  'version-conflict': staleVersion,
  'name-taken': body({ new_name: '品目' }),
  'in-use': archived,
});

export const tableCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  createTable: { 'name-taken': withTable(({ name }) => ({ body: { name: name.toUpperCase(), columns: [{ name: 'a' }] } })) },
  unarchiveArtifact: {
    'name-taken': changed(async (sample, { owner, workbook }) => {
      const path = { workbook_id: workbook, name: tableName(sample.path) };
      ok(await owner.client.POST(`${base}/artifacts/{name}/archive`, { params: { path } }));
      await makeTable(owner.client, workbook, path.name, [{ name: 'a' }]);
      return {};
    }),
  },
  deleteTable: { 'version-conflict': staleVersion },
  addColumn: addCases,
  addTableColumn: addCases,
  alterColumn: alterCases(({ artifact }) => artifact),
  alterTableColumn: alterCases(({ table }) => table),
  dropColumn: { 'version-conflict': staleVersion, 'in-use': archived },
  dropTableColumn: { 'version-conflict': staleVersion, 'in-use': archived },
  readRows: {
    'query-refused': filter("品目 IN (SELECT * FROM read_csv('/etc/hosts'))"),
    'query-failed': filter('品名 = 1'),
    'query-timeout': filter(endless),
    'query-too-large': filter(huge),
    expired: forgottenVersion(({ table }) => `${table}/rows?at_version=1`),
  },
  readRow: { expired: forgottenVersion(({ table }) => `${table}/rows/1?at_version=1`) },
  updateRow: { 'version-conflict': staleVersion, 'in-use': archived },
  deleteRow: { 'version-conflict': staleVersion, 'in-use': archived },
  readTableData: { expired: forgottenVersion(({ table }) => `${table}/data?at_version=1`) },
  upsertRows: { 'version-conflict': staleVersion, 'in-use': archived },
  deleteRows: { 'version-conflict': staleVersion, 'in-use': archived },
  writeRange: { 'version-conflict': staleVersion, 'in-use': archived },
  diffTable: { expired: forgottenVersion(({ table }) => `${table}/diff?from=1&to=2`) },
  undoOp: {
    // To bring back what was removed takes room.
    'quota-exceeded': withTable(async ({ name, workbook: address }, { owner, workbook }) => {
      const params = { path: { workbook_id: workbook, name } };
      const body = { row_ids: [1], expected_version: 2 };
      const { op_id } = ok(await owner.client.POST(`${base}/tables/{name}/rows/delete`, { params, body }));
      return { path: `${address}/ops/${op_id}/undo` };
    }),
    'version-conflict': withTable(async ({ name, workbook: address, opId }, { owner, workbook }) => {
      await editRows(owner.client, workbook, name, [{ __svc_row_id: 1, 数: 7 }], 2);
      return { path: `${address}/ops/${opId}/undo` };
    }),
    'in-use': withTable(async ({ workbook: address, opId }, { owner, workbook }) => {
      ok(await owner.client.POST(`${base}/ops/{op_id}/undo`, { params: { path: { workbook_id: workbook, op_id: opId } } }));
      return { path: `${address}/ops/${opId}/undo` };
    }),
  },
  runQuery: {
    'query-refused': body({ sql: 'SELECT * FROM duckdb_settings()' }),
    'query-failed': body({ sql: "SELECT CAST('x' AS INTEGER)" }),
    'query-timeout': body({ sql: `SELECT ${endless}`, timeout_ms: 300 }),
    'query-too-large': body({ sql: `SELECT ${huge}` }),
  },
  getResult: {
    expired: changed(async (sample, { api }) => {
      await api.sql.query("UPDATE results SET expires_at = now() - interval '1 second' WHERE id = $1", [sample.path.split('/').at(-1)]);
      return {};
    }),
  },
  restoreSnapshot: {
    'in-use': altered(async (_, { owner, workbook }) => {
      const { snapshots } = ok(await owner.client.GET(`${base}/snapshots`, { params: { path: { workbook_id: workbook } } }));
      return { path: `/api/v1/workbooks/${workbook}/snapshots/${snapshots.find(({ state }) => state === 'editing')?.id}/restore` };
    }),
  },
  exportTables: {
    'derived-cannot-branch': changed(async (sample, { api }) => {
      await api.sql.query("UPDATE tables SET layer = 'derived' WHERE name = $1", [(sample.body as { tables: string[] }).tables[0]]);
      return {};
    }),
  },
  mergeTable: {
    'derived-cannot-branch': changed(async (sample, { api }) => {
      await api.sql.query("UPDATE tables SET layer = 'derived' WHERE name = $1", [tableName(sample.path)]);
      return {};
    }),
    'in-use': archived,
  },
  syncFile: {
    'in-use': changed(async (sample, { api }) => {
      const branchId = sample.form?.fields.branch_id;
      await api.sql.query("UPDATE tables SET state = 'archived' WHERE id IN (SELECT table_id FROM branches WHERE id = $1)", [branchId]);
      return {};
    }),
  },
  renderChart: { 'governed-workbook': governed(sheetSamples.renderChart) },
  renderChartPng: { 'governed-workbook': governed(sheetSamples.renderChartPng) },
  bindSheet: {
    'in-use': changed(async (sample, world) => ({
      body: { ...(sample.body as object), external_ref: (await makeBinding(world)).ref },
    })),
  },
  resolveConflict: { 'in-use': body({ action: 'drop_override' }) },
  putSheet: {
    'name-taken': withTable(({ workbook, name }) => ({
      path: `${workbook}/sheets/${encodeURIComponent(name)}`,
      body: { spec: { blocks: [] } },
    })),
  },
  createVersion: { 'name-taken': changed(async (_, world) => ({ body: { label: await makeLabel(world) } })) },
};
