import type { JobKind } from '../jobs/kinds.ts';

interface TableData {
  artifact_id: string;
  name: string;
}

interface ArtifactData extends TableData {
  kind: 'table' | 'sheet' | 'chart' | 'report';
  /** Null for what has no versions. */
  edit_version: number | null;
}

interface SourceData {
  source_id: string;
  name: string;
}

export type StructuringOutcome = 'structured' | 'skipped' | 'deferred' | 'raw_fallback' | 'off';

/** The data of each event, as in the contract: names, ids and versions, never cell values. */
export interface EventData {
  'artifact.updated': ArtifactData & { state?: 'active' | 'archived' };
  'artifact.deleted': ArtifactData;
  'artifact.stale': ArtifactData & { stale_since: string; inputs: string[] };
  'snapshot.committed': { snapshot_id: string; label: string | null; event_type: string; tables: number };
  'source.analyzed': SourceData & { spec_version: number };
  'source.materialized': SourceData & { structuring?: StructuringOutcome };
  'conflict.created': TableData & { conflict_id: string; kind: 'overwrite' | 'stale_override' };
  'version.branched': TableData & { branch_id: string; edit_version: number };
  'version.merged': TableData & { branch_id: string | null; edit_version: number; conflicts: number };
  'job.completed': { job_id: string; kind: JobKind; status: 'succeeded' | 'failed' };
  'webhook.test': { webhook_id: string };
}

export type EventType = keyof EventData;

/** What webhooks can subscribe to. */
export const eventKinds = [
  'artifact.updated',
  'artifact.deleted',
  'artifact.stale',
  'snapshot.committed',
  'source.analyzed',
  'source.materialized',
  'conflict.created',
  'version.branched',
  'version.merged',
  'job.completed',
] as const satisfies readonly EventType[];

export type EventKind = (typeof eventKinds)[number];

/** An event before its commit, which assigns the id. */
export type EventNote = { [Type in EventType]: { type: Type; data: EventData[Type] } }[EventType];
