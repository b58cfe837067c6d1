import type { DescribedSource } from '../../activities/sources/describeSources.ts';
import { explainFallBack, explainLearned } from '../../core/jobs/explainFallBack.ts';
import { learnedToContract, summarizeRegion, toContract } from '../../core/structuring/spec/specJson.ts';
import type { components } from '../../schema/contract.ts';
import type { SourceRecord, SourceSummary } from '../../store/pg/sources.ts';

type Schemas = components['schemas'];

export function presentSource({ source, tables }: DescribedSource<SourceSummary>): Schemas['Source'] {
  return {
    id: source.id,
    name: source.name,
    filename: source.filename,
    mode: source.mode,
    status: source.status,
    size: source.size,
    sha256: source.sha256,
    content_type: source.contentType,
    created_at: source.createdAt.toISOString(),
    provenance: source.provenance as Schemas['Provenance'],
    structuring: source.structuring,
    structuring_reason: source.structuringReason,
    artifacts: tables.map((table) => table.name),
    parse_spec: source.spec && {
      version: source.specVersion,
      regions: source.spec.regions.map(summarizeRegion),
      ...(source.spec.learned ? { learned: learnedToContract(source.spec.learned) } : {}),
      ...(source.spec.doubtful && source.spec.doubtful.length > 0 ? { doubtful: source.spec.doubtful } : {}),
    },
    ...(source.error === null ? {} : { error: source.error }),
  };
}

export function presentUpload(
  described: DescribedSource,
  artifacts: Schemas['TableSummary'][],
  creditsCharged: number,
): Schemas['SourceUploadResponse'] {
  const { source } = described;
  return {
    source: presentSource(described),
    artifacts,
    structuring: source.structuring ?? 'deferred',
    ...(source.structuringReason === null
      ? {}
      : { structuring_reason: source.structuringReason, notice: explainFallBack(source.structuringReason) }),
    ...(source.structuring === 'structured' && source.spec?.learned ? { notice: explainLearned(source.spec.learned.length) } : {}),
    credits_charged: creditsCharged,
  };
}

export function presentSpec(source: SourceRecord): Schemas['ParseSpec'] {
  if (!source.spec) throw new Error(`${source.id} has no parse spec`);
  return { ...(toContract(source.spec) as Schemas['ParseSpec']), version: source.specVersion };
}
