import type { StructuringOutcome } from './events.ts';
import { audited, type Notes, oneOp } from './notes.ts';
import { artifactUpdated, opOn } from './tableNotes.ts';

export interface NotedSource {
  id: string;
  name: string;
}

export function uploadOpened(uploadId: string, filename: string): Notes {
  return audited('upload.open', filename, { upload_id: uploadId });
}

export function sourceRegistered(source: NotedSource & { size: number; mode: string }): Notes {
  return { ...audited('source.register', source.name, { source_id: source.id, size: source.size, mode: source.mode }), usage: oneOp };
}

/** Somebody asked for more than the source was first uploaded for, such as structuring. */
export function sourceUpgraded(source: NotedSource): Notes {
  return audited('source.upgrade', source.name, { source_id: source.id });
}

/** New bytes for a source. */
export function sourceRevised(source: NotedSource): Notes {
  return audited('source.revise', source.name, { source_id: source.id });
}

export function sourceRefused(source: NotedSource, problem: string): Notes {
  return audited('source.refuse', source.name, { source_id: source.id, problem });
}

export function sourceIngested(source: NotedSource, structuring: StructuringOutcome, reason: string | undefined): Notes {
  return {
    ...audited('source.ingest', source.name, { source_id: source.id, structuring, ...(reason ? { reason } : {}) }),
    events: [{ type: 'source.materialized', data: { source_id: source.id, name: source.name, structuring } }],
    usage: oneOp,
  };
}

export function sourceAnalyzed(source: NotedSource, specVersion: number): Notes {
  return {
    ...audited('source.analyze', source.name, { source_id: source.id, spec_version: specVersion }),
    events: [{ type: 'source.analyzed', data: { source_id: source.id, name: source.name, spec_version: specVersion } }],
    usage: oneOp,
  };
}

export function specCorrected(source: NotedSource, specVersion: number): Notes {
  return { ...audited('source.correct', source.name, { source_id: source.id, spec_version: specVersion }), usage: oneOp };
}

export function sourceMaterialized(source: NotedSource, tables: number): Notes {
  return {
    ...audited('source.materialize', source.name, { source_id: source.id, tables }),
    events: [{ type: 'source.materialized', data: { source_id: source.id, name: source.name } }],
    usage: oneOp,
  };
}

export interface NotedLanding {
  table: { id: string; name: string };
  editVersion: number;
  revision: number;
  rows: number;
  /** Blob key of the stored formulas; null without formulas. */
  formulasKey: string | null;
}

/** A table that a source made, or made again from new bytes. */
export function tableLanded(kind: 'table.create' | 'source.revise', source: NotedSource, landing: NotedLanding): Notes {
  const { table, editVersion, revision, rows, formulasKey } = landing;
  return {
    ops: [
      opOn(kind, table, editVersion, `${source.id}@${revision}`),
      ...(formulasKey === null ? [] : [opOn('formula.set', table, editVersion, formulasKey)]),
    ],
    ...audited(kind, table.name, { source_id: source.id, edit_version: editVersion, rows }),
    events: [artifactUpdated(table, editVersion)],
  };
}

/** A raw table, archived under another name because structured tables replace it. */
export function rawTableArchived(source: NotedSource, table: { id: string; name: string }, editVersion: number, nameBefore: string): Notes {
  return {
    ops: [opOn('table.archive', table, editVersion)],
    ...audited('table.archive', table.name, { source_id: source.id, name_before: nameBefore }),
    events: [artifactUpdated(table, editVersion, 'archived')],
  };
}
