/**
 * The data of each event: names, ids and versions, never cell values. The types are those of the contract. `never`: nothing
 * emits this event yet; the first change that does defines its data here.
 */
export interface EventData {
  'artifact.updated': { name: string; edit_version: number; state?: 'active' | 'archived' };
  'artifact.deleted': { name: string; edit_version: number };
  'artifact.stale': never;
  'snapshot.committed': { snapshot_id: string; label: string | null; event_type: string; tables: number };
  'source.analyzed': { source_id: string; name: string; spec_version: number };
  'source.materialized': { source_id: string; name: string; structuring?: string };
  'conflict.created': never;
  'version.branched': never;
  'version.merged': never;
  'job.completed': { job_id: string; kind: string; status: 'succeeded' | 'failed' };
  'webhook.test': never;
}

export type EventType = keyof EventData;

/** An event before its commit, which assigns the id. */
export type EventNote = { [Type in EventType]: { type: Type; data: EventData[Type] } }[EventType];
