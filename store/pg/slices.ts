/** Rows of one statement, which can have 65,535 parameters. */
const rowsAtOnce = 1_000;

/** Rows in as many statements as they need. */
export function* slice<T>(rows: T[]): Generator<T[]> {
  for (let first = 0; first < rows.length; first += rowsAtOnce) yield rows.slice(first, first + rowsAtOnce);
}
