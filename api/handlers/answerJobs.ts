import { describeResults } from '../../activities/jobs/describeResults.ts';
import { type DescribedSource, describeLanded, describeSource } from '../../activities/sources/describeSources.ts';
import { seeTables } from '../../activities/tables/seeTables.ts';
import { describeTransforms } from '../../activities/transforms/describeTransforms.ts';
import type { Principal } from '../../core/access/principal.ts';
import { notFound } from '../../core/errors.ts';
import type { components } from '../../schema/contract.ts';
import type { Orm } from '../../store/pg/database.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { presentJobResult, type ShownParts } from '../presenters/jobs.ts';
import { presentUpload } from '../presenters/sources.ts';
import { presentTableSummary } from '../presenters/tables.ts';
import { presentTransform } from '../presenters/transforms.ts';

type Schemas = components['schemas'];

/** What the jobs made, looked up per request, so that callers see only what they may. */
export async function showParts(services: Services, principal: Principal, jobs: JobRecord[]): Promise<ShownParts> {
  const { sources, tables, transforms, fileLinks, hiddenSources, governed } = await describeResults(services, jobs);
  const described = await describeTransforms(services, principal, transforms);
  const seen = await seeTables(services, principal, services.db.orm, [...tables.values()]);
  return {
    sources,
    fileLinks,
    hiddenSources,
    governed,
    tables: new Map(seen.map((each) => [each.table.id, presentTableSummary(each)])),
    transforms: new Map(described.map((each) => [each.transform.id, presentTransform(each)])),
  };
}

/** The body for those who wait for the job. */
export async function answerJob<Body>(services: Services, principal: Principal, job: JobRecord): Promise<Body> {
  const result = presentJobResult(job, await showParts(services, principal, [job]));
  if (!result) throw notFound(job.kind === 'transform' ? 'transform in this workbook' : 'source in this workbook');
  return result as Body;
}

/** A deferred ingest is answered once the raw tables exist. */
export const hasLanded = (job: JobRecord) => job.kind === 'ingest' && job.input.structuring === 'defer' && job.input.landed === true;

export async function answerIngest(services: Services, principal: Principal, job: JobRecord): Promise<Schemas['SourceUploadResponse']> {
  const { sourceId, structuring } = (job as JobRecord<'ingest'>).input;
  const body =
    job.result !== null || !hasLanded(job)
      ? await answerJob<Schemas['SourceUploadResponse']>(services, principal, job)
      : await answerUpload(services, principal, services.db.orm, await describeLanded(services.db.orm, sourceId));
  return structuring === 'defer' ? { ...body, job_id: job.id } : body;
}

/** The answer for a source that needs no work. */
export async function answerSource(services: Services, principal: Principal, orm: Orm, source: SourceRecord) {
  return answerUpload(services, principal, orm, await describeSource(orm, source));
}

async function answerUpload(services: Services, principal: Principal, orm: Orm, described: DescribedSource) {
  const seen = await seeTables(services, principal, orm, described.tables);
  return presentUpload(described, seen.map(presentTableSummary), 0);
}
