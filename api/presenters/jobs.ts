import type { ResultParts } from '../../activities/jobs/describeResults.ts';
import type { JobKind } from '../../core/jobs/kinds.ts';
import type { components } from '../../schema/contract.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { presentLinkResult } from './fileLinks.ts';
import { presentReview } from './review.ts';
import { presentRestored } from './snapshots.ts';
import { presentSource, presentSpec, presentUpload } from './sources.ts';
import { presentOutput, presentRecompute } from './transforms.ts';

type Schemas = components['schemas'];

/** What jobs made, as the caller may see it. */
export interface ShownParts extends Pick<ResultParts, 'sources' | 'fileLinks' | 'hiddenSources' | 'governed'> {
  tables: Map<string, Schemas['TableSummary']>;
  transforms: Map<string, Schemas['Transform']>;
}

type Done<Kind extends JobKind> = JobRecord<Kind> & { result: NonNullable<JobRecord<Kind>['result']> };

/**
 * The result of each job kind: the same body as the synchronous form, or null if what it made is gone. A kind that only the
 * contract or only `core/jobs/kinds.ts` knows does not compile.
 */
const presentResult: { [Kind in Schemas['Job']['kind']]: (job: Done<Kind>, parts: ShownParts) => object | null } = {
  ingest({ input, result }, { sources, tables }) {
    const described = sources.get(input.sourceId);
    if (!described) return null;
    const artifacts = described.tables.flatMap(({ id }) => tables.get(id) ?? []);
    return presentUpload(described, artifacts, result.creditsCharged);
  },
  analyze({ input }, { sources, hiddenSources }) {
    // A spec names all columns of the file.
    if (hiddenSources.has(input.sourceId)) return null;
    const source = sources.get(input.sourceId)?.source;
    return source?.spec ? presentSpec(source) : null;
  },
  materialize({ input, result }, { sources, tables }): Schemas['MaterializeResponse'] | null {
    const described = sources.get(input.sourceId);
    if (!described) return null;
    return {
      source: presentSource(described),
      artifacts: result.tableIds.flatMap((id) => tables.get(id) ?? []),
      edit_version: result.editVersion,
      op_id: result.opId,
      stale: result.stale ?? [],
    };
  },
  transform({ result }, { transforms }): Schemas['TransformResult'] | null {
    const transform = transforms.get(result.transformId);
    return transform ? { transform, output: presentOutput(result.output), op_id: result.opId, ...presentRecompute(result) } : null;
  },
  recompute: ({ result }): Schemas['RecomputeResponse'] => ({
    ...presentRecompute(result),
    skipped_reports: result.skippedReports ?? [],
  }),
  // It was made before the workbook had policies; now its cells are hidden from somebody.
  review: (job, { governed }) => (governed.has(job.workbookId ?? '') ? null : presentReview(job)),
  restore: ({ result }) => presentRestored(result),
  file_link({ result }, { fileLinks, tables }): Schemas['FileLinkResult'] | null {
    const link = fileLinks.get(result.linkId);
    const names = result.tableIds.flatMap((id) => tables.get(id)?.name ?? []);
    return link ? presentLinkResult(link, result, names) : null;
  },
  delete_account: presentAsKept,
};

function presentAsKept({ result }: { result: object }): object {
  return result;
}

/** Null: there is no result yet, or what it made is gone. */
export function presentJobResult(job: JobRecord, parts: ShownParts): object | null {
  if (job.status !== 'succeeded' || job.result === null) return null;
  return (presentResult[job.kind] as (job: JobRecord, parts: ShownParts) => object | null)(job, parts);
}

export function presentJob(job: JobRecord, parts: ShownParts): Schemas['Job'] {
  const result = presentJobResult(job, parts);
  return {
    job_id: job.id,
    kind: job.kind,
    status: job.status,
    workbook_id: job.workbookId,
    progress: { stage: job.stage ?? job.status, done: job.done, total: job.total },
    ...(result === null ? {} : { result }),
    ...(job.error === null ? {} : { error: job.error }),
    created_at: job.createdAt.toISOString(),
    finished_at: job.finishedAt?.toISOString() ?? null,
  } as Schemas['Job'];
}
