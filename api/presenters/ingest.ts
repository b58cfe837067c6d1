import { type IngestResult, inputOf } from '../../activities/ingest/job.ts';
import { visibleColumns } from '../../activities/rows/upsertRows.ts';
import { type DescribedSource, describeLanded, describeSources } from '../../activities/sources/describeSources.ts';
import type { MaterializeResult } from '../../activities/sources/materializeSource.ts';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import type { components } from '../../schema/contract.ts';
import type { Orm } from '../../store/pg/database.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { findSourceById, type SourceRecord } from '../../store/pg/sources.ts';
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
  if (structuring === 'defer' && job.result === null)
    return present(services, principal, services.db.orm, await describeLanded(services.db.orm, source), 0);
  return describeUpload(services, principal, services.db.orm, source, creditsCharged);
}

export async function describeUpload(
  services: Services,
  principal: Principal,
  orm: Orm,
  source: SourceRecord,
  creditsCharged: number,
): Promise<Schemas['SourceUploadResponse']> {
  const [described] = await describeSources(orm, [source]);
  return present(services, principal, orm, described as DescribedSource, creditsCharged);
}

async function present(
  services: Services,
  principal: Principal,
  orm: Orm,
  described: DescribedSource,
  creditsCharged: number,
): Promise<Schemas['SourceUploadResponse']> {
  const { source } = described;
  return {
    source: presentSource(described),
    artifacts: await summarizeTables(services, principal, orm, described.tables),
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
  const { orm, pool } = services.db;
  const result = job.result as unknown as MaterializeResult;
  const source = await findSourceById(orm, result.sourceId);
  if (!source) throw notFound('source in this workbook');
  const [described] = await describeSources(orm, [source]);
  const tables = (await listTablesById(pool, result.tableIds)).map(({ table }) => table);
  return {
    source: presentSource(described as DescribedSource),
    artifacts: await summarizeTables(services, principal, orm, tables),
    edit_version: result.editVersion,
    op_id: result.opId,
    stale: [],
  };
}

/** The result of a job: the same body as the synchronous form. Null while there is none, or when what it made is gone. */
export async function answerJob(services: Services, principal: Principal, job: JobRecord): Promise<object | null> {
  if (job.status !== 'succeeded' || job.result === null) return null;
  try {
    switch (job.kind) {
      case 'ingest':
        return await answerIngest(services, principal, job);
      case 'materialize':
        return await answerMaterialize(services, principal, job);
      case 'analyze':
        return await answerAnalyze(services, job);
      default:
        return job.result;
    }
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not-found') return null;
    throw error;
  }
}

async function answerAnalyze(services: Services, job: JobRecord): Promise<Schemas['ParseSpec'] | null> {
  const source = await findSourceById(services.db.orm, job.input.sourceId as string);
  return source?.spec ? presentSpec(source) : null;
}
