import type { DescribedTransform } from '../../activities/transforms/describeTransforms.ts';
import type { FailedRun, Recomputed, RunOutput } from '../../core/jobs/transformJobs.ts';
import type { Freshness } from '../../core/transforms/transform.ts';
import type { components } from '../../schema/contract.ts';

type Schemas = components['schemas'];

export function presentFreshness({ staleSince, moved }: Freshness): Schemas['Freshness'] {
  if (staleSince === null) return { stale: false, stale_since: null };
  return { stale: true, stale_since: staleSince.toISOString(), inputs: moved };
}

export function presentTransform({ transform, args, freshness }: DescribedTransform): Schemas['Transform'] {
  return {
    name: transform.name,
    language: transform.language,
    template: transform.template,
    args,
    output: transform.output,
    key: transform.key,
    materialize: transform.materialize,
    revision: transform.revision,
    freshness: presentFreshness(freshness),
    last_run_at: transform.lastRunAt?.toISOString() ?? null,
    last_error: transform.lastError,
    created_at: transform.createdAt.toISOString(),
  };
}

export function presentOutput({ name, editVersion, rowCount }: Omit<RunOutput, 'tableId'>): Schemas['OutputTable'] {
  return { name, edit_version: editVersion, row_count: rowCount };
}

const presentFailed = ({ name, error }: FailedRun): Schemas['FailedTable'] => ({ name, error });

export function presentRecompute({ recomputed, failed, conflicts }: Recomputed) {
  return { recomputed: recomputed.map(presentOutput), failed: failed.map(presentFailed), conflicts };
}

/** A transform that was stored and not run. */
export function presentUnrun(described: DescribedTransform): Schemas['TransformResult'] {
  return { transform: presentTransform(described), output: null, op_id: null, recomputed: [], failed: [], conflicts: [] };
}
