import { expect } from 'vitest';
import type { OperationId } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { ok } from '../setup/api.ts';
import type { Case } from './genericCases.ts';
import { altered, body } from './tableCases.ts';
import { makeSampleTransform, planSampleTransform, type SampleTransform } from './transformSamples.ts';
import type { World } from './world.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;
const endless = 'SELECT count(*) AS n FROM {{ detail }}, range(100000) a, range(100000) b, range(1000) c';
const huge = "SELECT repeat('a', 4000000000) AS 品目 FROM {{ detail }}";

const templates: Partial<Record<ProblemCode, string>> = {
  'query-refused': "SELECT * FROM {{ detail }}, read_csv('/etc/hosts')",
  'query-failed': 'SELECT 品名 FROM {{ detail }}',
  'query-timeout': endless,
  'query-too-large': huge,
};

const createCases = Object.fromEntries(Object.entries(templates).map(([slug, template]) => [slug, body({ template, key: null })]));

const withTransform = (make: (made: SampleTransform, world: World) => Promise<{ path: string; body?: unknown }>): Case =>
  altered(async (_, world) => make(await makeSampleTransform(world), world));

/** A transform that was fine when it was made, and is not any more. */
const runOf = (template: string): Case =>
  withTransform(async ({ transform, output }, { api }) => {
    await api.sql.query('UPDATE transforms SET template = $2, key = NULL WHERE name = $1', [output, template]);
    return { path: `${transform}/run`, body: {} };
  });
const runCases = Object.fromEntries(Object.entries(templates).map(([slug, template]) => [slug, runOf(template)]));

/** A view whose transform fails, read by an operation on tables. */
type ViewReading = { path: string; body?: unknown };
const brokenView = (read: (table: string, name: string, world: World) => ViewReading | Promise<ViewReading>): Case =>
  altered(async (_, world) => {
    const planned = await planSampleTransform(world);
    const wanted = { ...planned.body, materialize: 'view' as const };
    ok(await world.owner.client.POST(`${base}/transforms`, { params: { path: { workbook_id: world.workbook } }, body: wanted }));
    await world.api.sql.query("UPDATE transforms SET template = 'SELECT 品名, 数 FROM {{ detail }}', revision = 2 WHERE name = $1", [
      planned.output,
    ]);
    return read(`${planned.workbook}/tables/${encodeURIComponent(planned.output)}`, planned.output, world);
  });

/** Beside the other cases of these operations. */
export const viewCases: Partial<Record<OperationId, Case>> = {
  profileTable: brokenView((table) => ({ path: `${table}/profile` })),
  readTableData: brokenView((table) => ({ path: `${table}/data` })),
  readRow: brokenView((table) => ({ path: `${table}/rows/1` })),
  readRange: brokenView((table) => ({ path: `${table}/range?range=A1:B2` })),
  renderSheet: brokenView(async (table, name, { api, owner }) => {
    const sheet = `${table.replace('/tables/', '/sheets/')}%20r`;
    const body = JSON.stringify({ spec: { blocks: [{ kind: 'table_view', table: name }] } });
    const headers = { 'Content-Type': 'application/json' };
    expect((await api.fetch(sheet, { method: 'PUT', token: owner.session, headers, body })).status).toBe(201);
    return { path: `${sheet}/render` };
  }),
  exportTables: brokenView((table, name) => ({
    path: table.replace(/\/tables\/.*/, '/export'),
    body: { tables: [name], format: 'csv' },
  })),
};

export const transformCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  createTransform: {
    ...createCases,
    'name-taken': altered((sample) => {
      const wanted = sample.body as { args: { detail: string } };
      return { body: { ...wanted, output: wanted.args.detail } };
    }),
    cycle: withTransform(async ({ workbook, body: wanted, output }) => ({
      path: `${workbook}/transforms`,
      body: { ...wanted, template: 'SELECT * FROM {{ detail }}', args: { detail: output } },
    })),
    'not-configured': body({ language: 'python', template: 'def transform(detail): return detail', key: null }),
  },
  deleteTransform: {
    'version-conflict': altered((sample) => ({ path: sample.path.replace('expected_version=1', 'expected_version=7') })),
    'in-use': withTransform(async ({ transform, output }, { owner, workbook }) => {
      const wanted = { name: `${output} 2`, language: 'sql' as const, template: 'SELECT * FROM {{ a }}', args: { a: output } };
      ok(await owner.client.POST(`${base}/transforms`, { params: { path: { workbook_id: workbook } }, body: { ...wanted, run: false } }));
      return { path: `${transform}?expected_version=null` };
    }),
  },
  runTransform: {
    ...runCases,
    'in-use': withTransform(async ({ transform, name }, { owner, workbook }) => {
      ok(await owner.client.POST(`${base}/artifacts/{name}/archive`, { params: { path: { workbook_id: workbook, name } } }));
      return { path: `${transform}/run`, body: {} };
    }),
    'not-configured': withTransform(async ({ transform, output }, { api }) => {
      await api.sql.query("UPDATE transforms SET language = 'python' WHERE name = $1", [output]);
      return { path: `${transform}/run`, body: {} };
    }),
  },
  deleteTable: {
    'in-use': withTransform(async ({ table }) => ({ path: `${table}?expected_version=null` })),
  },
};
