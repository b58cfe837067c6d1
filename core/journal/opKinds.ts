export interface OpTraits {
  /** Whether ops of this kind can be undone at all. */
  undoable: boolean;
  /** Whether the row log, or a change of columns alone, fully describes the new version. */
  logged: boolean;
}

const plain: OpTraits = { undoable: false, logged: false };
const logged: OpTraits = { undoable: false, logged: true };
const undoable: OpTraits = { undoable: true, logged: true };

/** All kinds of ops. A new kind is one entry here. */
export const opKinds = {
  'rows.upsert': undoable,
  'rows.delete': undoable,
  'rows.undo': logged,
  'column.add': logged,
  'column.rename': logged,
  'column.drop': logged,
  'column.retype': plain,
  'merge.apply': logged,
  'table.create': plain,
  'table.delete': plain,
  'table.archive': plain,
  'table.unarchive': plain,
  'source.revise': plain,
  'formula.set': plain,
  'transform.run': plain,
  'snapshot.commit': plain,
  'snapshot.restore': plain,
  'version.commit': plain,
  'version.revert': plain,
} as const satisfies Record<string, OpTraits>;

export type OpKind = keyof typeof opKinds;

const allKinds = Object.keys(opKinds) as OpKind[];

export const undoableKinds = allKinds.filter((kind) => opKinds[kind].undoable);
export const loggedKinds = allKinds.filter((kind) => opKinds[kind].logged);
