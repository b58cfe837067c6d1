/** A cell of a derived table. */
export interface OverriddenCell {
  rowId: number;
  columnId: number;
}

/** A cell of a derived table that somebody has set. It stays when the transform is run again. Values are canonical text. */
export interface Override extends OverriddenCell {
  value: string | null;
  /** What the transform gave for the cell in its last run. */
  below: string | null;
}

/** What an edit does to the overrides of a table. */
export interface OverrideChanges {
  set: Override[];
  /** They get the value below. */
  dropped: Override[];
}

/** For looking cells up. */
export const cellKey = ({ rowId, columnId }: OverriddenCell): string => `${rowId} ${columnId}`;
