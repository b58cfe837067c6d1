import { audited, type Notes, oneOp } from './notes.ts';

interface NotedSheet {
  id: string;
  name: string;
}

const describeSheet = ({ id, name }: NotedSheet) => ({ artifact_id: id, name, kind: 'sheet' as const, edit_version: null });

/** Created or replaced. */
export function sheetPut(sheet: NotedSheet, blocks: number): Notes {
  return {
    ...audited('sheet.put', sheet.name, { blocks }),
    events: [{ type: 'artifact.updated', data: describeSheet(sheet) }],
    usage: oneOp,
  };
}

export function sheetDeleted(sheet: NotedSheet): Notes {
  return { ...audited('sheet.delete', sheet.name), events: [{ type: 'artifact.deleted', data: describeSheet(sheet) }], usage: oneOp };
}
