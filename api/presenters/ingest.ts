import { type DescribedSource, describeLanded, describeSources } from '../../activities/sources/describeSources.ts';
import type { Principal } from '../../core/access/principal.ts';
import { notFound } from '../../core/errors.ts';
import type { IngestInput, IngestResult, MaterializeResult } from '../../core/jobs/sourceJobs.ts';
import type { components } from '../../schema/contract.ts';
import type { Orm } from '../../store/pg/database.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { findSourceById, listSourcesById, type SourceRecord } from '../../store/pg/sources.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { presentSource, presentSpec } from './sources.ts';
import { summarizeTables } from './tables.ts';

type Schemas = components['schemas'];

/** What an ingest answers: made when it is asked for, so that it shows each caller what they may see. */
export async function answerIngest(services: Services, principal: Principal, job: JobRecord): Promise<Schemas['SourceUploadResponse']> {
  const { sourceId, structuring } = job.input as IngestInput;
  const source = await findSourceById(services.db.orm, sourceId);
  if (!source) throw notFound('source in this workbook');
  if (structuring === 'defer' && job.result === null) {
    const landed = await describeLanded(services.db.orm, source);
    return presentUpload(landed, await summarizeTables(services, principal, services.db.orm, landed.tables), 0);
  }
  return describeUpload(services, principal, services.db.orm, source, asIngested(job)?.creditsCharged ?? 0);
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
  return { source: presentSource(described), artifacts, edit_version: result.editVersion, op_id: result.opId, stale: result.stale ?? [] };
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
  const sources = await listSourcesById(orm, [...new Set(done.map((job) => (job.input as IngestInput).sourceId))]);
  const bySource = new Map((await describeSources(orm, sources)).map((described) => [described.source.id, described]));
  const tableIds = done.flatMap((job) => (job.kind === 'materialize' ? asMaterialized(job).tableIds : []));
  const made = (await listTablesById(pool, tableIds)).map(({ table }) => table);
  const ingested = done.flatMap((job) => (job.kind === 'ingest' ? (bySource.get((job.input as IngestInput).sourceId)?.tables ?? []) : []));
  const tables = [...new Map([...made, ...ingested].map((table) => [table.id, table])).values()];
  const summaries = await summarizeTables(services, principal, orm, tables);
  const byTable = new Map(tables.map((table, i) => [table.id, summaries[i] as Schemas['TableSummary']]));
  const summariesOf = (ids: string[]) => ids.flatMap((id) => byTable.get(id) ?? []);
  return jobs.map((job) => {
    if (job.status !== 'succeeded' || job.result === null) return null;
    if (!aboutSources.has(job.kind)) return job.result;
    const described = bySource.get((job.input as IngestInput).sourceId);
    if (!described) return null;
    if (job.kind === 'analyze') return described.source.spec ? presentSpec(described.source) : null;
    if (job.kind === 'materialize') return presentMaterialized(described, summariesOf(asMaterialized(job).tableIds), asMaterialized(job));
    const ids = described.tables.map((table) => table.id);
    return presentUpload(described, summariesOf(ids), asIngested(job)?.creditsCharged ?? 0);
  });
}

const asIngested = (job: JobRecord) => job.result as unknown as IngestResult | null;
const asMaterialized = (job: JobRecord) => job.result as unknown as MaterializeResult;
