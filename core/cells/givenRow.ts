/** A row as a request gives it: its columns' names and, beside them, their values. */
export class GivenRow {
  constructor(
    readonly names: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  static of(row: object): GivenRow {
    return row instanceof GivenRow ? row : new GivenRow(Object.keys(row), Object.values(row));
  }
}

/** A number of more digits than a double holds for sure, or one that no double reaches: as it was written. */
export class LongNumber {
  constructor(readonly text: string) {}
}
