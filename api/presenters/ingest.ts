import { type IngestResult, inputOf } from '../../activities/ingest/job.ts';
import { visibleColumns } from '../../activities/rows/upsertRows.ts';
import { type DescribedSource, describeLanded, describeSources } from '../../activities/sources/describeSources.ts';
import type { MaterializeResult } from '../../activities/sources/materializeSource.ts';
import type { Principal } from '../../core/access/principal.ts';
import { notFound } from '../../core/errors.ts';
import type { components } from '../../schema/contract.ts';
import type { Orm } from '../../store/pg/database.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { findSourceById, listSourcesById, type SourceRecord } from '../../store/pg/sources.ts';
import { listColumnsAt, listTablesById, type TableRecord } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { presentSource, presentSpec } from './sources.ts';
import { presentTableSummary } from './tables.ts';

type Schemas = components['schemas'];

/** What an ingest answers: made when it is asked for, so that it shows each caller what they may see. */
export async function answerIngest(services: Services, principal: Principal, job: JobRecord): Promise<Schemas['SourceUploadResponse']> {
  const { sourceId, structuring } = inputOf(job);
  const source = await findSourceById(services.db.orm, sourceId);
  if (!source) throw notFound('source in this workbook');
  const { creditsCharged } = (job.result ?? { creditsCharged: 0 }) as unknown as IngestResult;
  if (structuring === 'defer' && job.result === null) {
    const landed = await describeLanded(services.db.orm, source);
    return presentUpload(landed, await summarizeTables(services, principal, services.db.orm, landed.tables), 0);
  }
  return describeUpload(services, principal, services.db.orm, source, creditsCharged);
}

export async function describeUpload(
  services: Services,
  principal: Principal,
  orm: Orm,
  source: SourceRecord,
  creditsCharged: number,
): Promise<Schemas['SourceUploadResponse']> {
  const [described] = (await describeSources(orm, [source])) as [DescribedSource];
  return presentUpload(described, await summarizeTables(services, principal, orm, described.tables), creditsCharged);
}

function presentUpload(
  described: DescribedSource,
  artifacts: Schemas['TableSummary'][],
  creditsCharged: number,
): Schemas['SourceUploadResponse'] {
  const { source } = described;
  return {
    source: presentSource(described),
    artifacts,
    structuring: source.structuring ?? 'deferred',
    ...(source.structuringReason === null ? {} : { structuring_reason: source.structuringReason }),
    credits_charged: creditsCharged,
  };
}

/** Tables in short, as the caller may see them. */
export async function summarizeTables(
  services: Services,
  principal: Principal,
  orm: Orm,
  tables: TableRecord[],
): Promise<Schemas['TableSummary'][]> {
  const versions = new Map(tables.map((table) => [table.id, table.editVersion]));
  const columns = await listColumnsAt(orm, [...versions.keys()], (id) => versions.get(id) ?? 0);
  return Promise.all(
    tables.map(async (table) => {
      const { editVersion, versionUid, schemaVersion, rowCount } = table;
      const at = { table, editVersion, versionUid, schemaVersion, rowCount, columns: columns.get(table.id) ?? [], layers: [] };
      return presentTableSummary(table, await visibleColumns(services, principal, at));
    }),
  );
}

export async function answerMaterialize(services: Services, principal: Principal, job: JobRecord): Promise<Schemas['MaterializeResponse']> {
  const answer = await answerJob(services, principal, job);
  if (!answer) throw notFound('source in this workbook');
  return answer as Schemas['MaterializeResponse'];
}

function presentMaterialized(
  described: DescribedSource,
  artifacts: Schemas['TableSummary'][],
  result: MaterializeResult,
): Schemas['MaterializeResponse'] {
  return { source: presentSource(described), artifacts, edit_version: result.editVersion, op_id: result.opId, stale: [] };
}

/** The result of a job: the same body as the synchronous form. Null while there is none, or when what it made is gone. */
export async function answerJob(services: Services, principal: Principal, job: JobRecord): Promise<object | null> {
  const [answer = null] = await answerJobs(services, principal, [job]);
  return answer;
}

const aboutSources = new Set(['ingest', 'analyze', 'materialize']);

/** The results of several jobs, in their order; what they are about is looked up for all of them at once. */
export async function answerJobs(services: Services, principal: Principal, jobs: JobRecord[]): Promise<(object | null)[]> {
  const { orm, pool } = services.db;
  const done = jobs.filter((job) => job.status === 'succeeded' && job.result !== null && aboutSources.has(job.kind));
  const sources = await listSourcesById(orm, [...new Set(done.map((job) => job.input.sourceId as string))]);
  const bySource = new Map((await describeSources(orm, sources)).map((described) => [described.source.id, described]));
  const tableIds = done.flatMap((job) => (job.kind === 'materialize' ? asMaterialized(job).tableIds : []));
  const made = (await listTablesById(pool, tableIds)).map(({ table }) => table);
  const ingested = done.flatMap((job) => (job.kind === 'ingest' ? (bySource.get(job.input.sourceId as string)?.tables ?? []) : []));
  const tables = [...new Map([...made, ...ingested].map((table) => [table.id, table])).values()];
  const summaries = await summarizeTables(services, principal, orm, tables);
  const byTable = new Map(tables.map((table, i) => [table.id, summaries[i] as Schemas['TableSummary']]));
  const summariesOf = (ids: string[]) => ids.flatMap((id) => byTable.get(id) ?? []);
  return jobs.map((job) => {
    if (job.status !== 'succeeded' || job.result === null) return null;
    if (!aboutSources.has(job.kind)) return job.result;
    const described = bySource.get(job.input.sourceId as string);
    if (!described) return null;
    if (job.kind === 'analyze') return described.source.spec ? presentSpec(described.source) : null;
    if (job.kind === 'materialize') return presentMaterialized(described, summariesOf(asMaterialized(job).tableIds), asMaterialized(job));
    const { creditsCharged } = job.result as unknown as IngestResult;
    const ids = described.tables.map((table) => table.id);
    return presentUpload(described, summariesOf(ids), creditsCharged);
  });
}

const asMaterialized = (job: JobRecord) => job.result as unknown as MaterializeResult;
