/** A row of a request: column names and values at the same positions. */
export class GivenRow {
  constructor(
    readonly names: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  static of(row: object): GivenRow {
    return row instanceof GivenRow ? row : new GivenRow(Object.keys(row), Object.values(row));
  }
}

/** A JSON number that a double cannot hold exactly, as it was written. */
export class LongNumber {
  constructor(readonly text: string) {}
}
