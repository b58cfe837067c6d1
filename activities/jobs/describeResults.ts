import type { JobKind } from '../../core/jobs/kinds.ts';
import type { TableRecord } from '../../core/table/table.ts';
import { listGoverned, listHiddenSources } from '../../store/pg/governance.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { listSourcesById } from '../../store/pg/sources.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import { listTransformsById, type TransformRecord } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { type DescribedLink, describeLinks } from '../fileLinks/describeLinks.ts';
import { type DescribedSource, describeSources } from '../sources/describeSources.ts';

/** What the results of jobs refer to, by id. What was deleted is missing. */
export interface ResultParts {
  sources: Map<string, DescribedSource>;
  tables: Map<string, TableRecord>;
  transforms: TransformRecord[];
  fileLinks: Map<string, DescribedLink>;
  /** Of the sources that were analysed those of whose columns some may be hidden. */
  hiddenSources: Set<string>;
  /** Workbooks with column policies, whose cells results do not show. */
  governed: Set<string>;
}

interface Mentions {
  sourceId?: string;
  /** Look up the tables of the source too. */
  withSourceTables?: boolean;
  tableIds?: string[];
  transformId?: string;
  linkId?: string;
}

/** What the result of each kind of job refers to, so that a whole page is looked up at once. */
const mentions: { [Kind in JobKind]: (job: JobRecord<Kind>) => Mentions } = {
  ingest: ({ input }) => ({ sourceId: input.sourceId, withSourceTables: true }),
  analyze: ({ input }) => ({ sourceId: input.sourceId }),
  materialize: ({ input, result }) => ({ sourceId: input.sourceId, tableIds: result?.tableIds ?? [] }),
  transform: ({ result }) => ({ transformId: result?.transformId ?? '' }),
  recompute: () => ({}),
  review: () => ({}),
  restore: () => ({}),
  file_link: ({ input, result }) => ({ linkId: input.link.linkId, tableIds: result?.tableIds ?? [] }),
  delete_account: () => ({}),
};

export async function describeResults(services: Services, jobs: JobRecord[]): Promise<ResultParts> {
  const { orm, pool } = services.db;
  const mentioned = jobs.filter(hasResult).map((job) => (mentions[job.kind] as (job: JobRecord) => Mentions)(job));
  const sourceIds = new Set(mentioned.flatMap(({ sourceId }) => sourceId ?? []));
  const described = await describeSources(orm, await listSourcesById(orm, [...sourceIds]));
  const sources = new Map(described.map((each) => [each.source.id, each]));
  const made = await listTablesById(
    pool,
    mentioned.flatMap(({ tableIds }) => tableIds ?? []),
  );
  const ofSources = mentioned.flatMap(({ sourceId, withSourceTables }) =>
    withSourceTables && sourceId !== undefined ? (sources.get(sourceId)?.tables ?? []) : [],
  );
  const tables = new Map([...made.map(({ table }) => table), ...ofSources].map((table) => [table.id, table]));
  const transforms = await listTransformsById(
    orm,
    mentioned.flatMap(({ transformId }) => transformId ?? []),
  );
  const fileLinks = await describeLinks(
    orm,
    mentioned.flatMap(({ linkId }) => linkId ?? []),
  );
  const analyzed = jobs.flatMap((job) => (job.kind === 'analyze' ? [job.input.sourceId] : []));
  const reviewed = new Set(jobs.flatMap(({ kind, workbookId }) => (kind === 'review' && workbookId !== null ? [workbookId] : [])));
  const [hiddenSources, governed] = await Promise.all([listHiddenSources(pool, analyzed), listGoverned(orm, [...reviewed])]);
  return { sources, tables, transforms, fileLinks, hiddenSources, governed };
}

function hasResult(job: JobRecord): boolean {
  return job.status === 'succeeded' && job.result !== null;
}
