import type { DescribedLink } from '../../activities/fileLinks/describeLinks.ts';
import type { FileLinkResult } from '../../core/jobs/linkJobs.ts';
import type { components } from '../../schema/contract.ts';
import type { FileLinkVersion } from '../../store/pg/fileLinks.ts';

type Schemas = components['schemas'];

export function presentLink({ link, versions }: DescribedLink): Schemas['FileLink'] {
  return {
    id: link.id,
    name: link.name,
    kind: link.kind,
    provider: link.provider,
    origin: link.origin,
    every: link.every,
    source: link.sourceName,
    versions: versions.map(presentVersion),
    created_at: link.createdAt.toISOString(),
  };
}

function presentVersion({ n, kind, modifiedBy, modifiedAt, syncedAt, snapshotId }: FileLinkVersion): Schemas['FileLinkVersion'] {
  return {
    n,
    kind,
    modified_by: modifiedBy,
    modified: modifiedAt?.toISOString() ?? null,
    synced_at: syncedAt.toISOString(),
    snapshot_id: snapshotId,
  };
}

/** `names`: of the tables with new content that the caller may see. */
export function presentLinkResult(described: DescribedLink, result: FileLinkResult, names: string[]): Schemas['FileLinkResult'] {
  return {
    file_link: presentLink(described),
    changed: result.changed,
    n: result.n,
    artifacts: names,
    conflicts: result.conflicts,
  };
}
