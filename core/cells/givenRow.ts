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

/** A number that a double would round, or not reach: as it was written. */
export class LongNumber {
  constructor(readonly text: string) {}
}
