/** An input of a view, compared with the last time the view was made. */
export interface ViewInput {
  /** Something that the view uses has changed in it, or in a table that it is made from. */
  isMarked: boolean;
  /** It has another version now. */
  hasMoved: boolean;
  /** It is stale itself, and has to be made first. */
  isStale: boolean;
}

/** Whether a view has to be made again before it is read. A stale table that it reads is read as it is stored. */
export function isViewDue({ isRevised, inputs }: { isRevised: boolean; inputs: readonly ViewInput[] }): boolean {
  const marked = inputs.filter(({ isMarked }) => isMarked);
  return isRevised || marked.some(({ hasMoved }) => hasMoved) || (marked.length > 0 && !marked.some(({ isStale }) => isStale));
}
