import { audited, type Notes, oneOp } from './notes.ts';
import { artifactUpdated, type NotedTable, opOn } from './tableNotes.ts';

interface NotedTransform {
  id: string;
  name: string;
  revision: number;
}

/** `isNew`: the run made a version; otherwise the table held the same content already. */
export function transformRun(
  transform: NotedTransform,
  output: NotedTable & { editVersion: number; isNew: boolean; rows: number },
  inputs: { name: string; editVersion: number }[],
): Notes {
  return {
    ops: [opOn('transform.run', output, output.editVersion, `${transform.id}@${transform.revision}`)],
    ...audited('transform.run', transform.name, {
      output: output.name,
      edit_version: output.editVersion,
      rows: output.rows,
      inputs: inputs.map(({ name, editVersion }) => ({ name, edit_version: editVersion })),
    }),
    events: output.isNew ? [artifactUpdated(output, output.editVersion)] : [],
    usage: oneOp,
  };
}

/** An input moved on while a run was reading it. */
export function outputStale(output: NotedTable & { editVersion: number }, at: Date, inputs: string[]): Notes {
  const { id, name, editVersion } = output;
  const data = { artifact_id: id, name, kind: 'table' as const, edit_version: editVersion, stale_since: at.toISOString(), inputs };
  return { events: [{ type: 'artifact.stale', data }] };
}

/** Created or replaced. */
export function transformDefined({ name, revision }: NotedTransform): Notes {
  return { ...audited('transform.define', name, { revision }), usage: oneOp };
}

export function transformDeleted({ name, revision }: NotedTransform): Notes {
  return audited('transform.delete', name, { revision });
}
