import type { Places } from './relation.ts';

/** A table that a query may read, by its columns' names. */
export interface InputTable {
  name: string;
  columns: string[];
}

/** A column of an input. Null: which rows the input has, and their order. */
export interface InputColumn {
  table: string;
  column: string | null;
}

/** Numbers for columns and rows of the inputs, so that sets of them are small. */
export interface NumberedInputs {
  /** Every column and the rows of every input. */
  all: Places;
  columnAt(table: number, column: number): number | null;
  rowsOf(table: number): number | null;
  describe(places: Places): InputColumn[];
}

export function numberInputs(tables: InputTable[]): NumberedInputs {
  const described = tables.flatMap(({ name, columns }): InputColumn[] => [
    { table: name, column: null },
    ...columns.map((column) => ({ table: name, column })),
  ]);
  const firsts: number[] = [];
  let next = 0;
  for (const { columns } of tables) {
    firsts.push(next);
    next += columns.length + 1;
  }
  return {
    all: new Set(described.keys()),
    columnAt: (table, column) => {
      const first = firsts[table];
      return first === undefined || tables[table]?.columns[column] === undefined ? null : first + 1 + column;
    },
    rowsOf: (table) => firsts[table] ?? null,
    describe: (places) => [...places].sort((a, b) => a - b).map((place) => described[place] as InputColumn),
  };
}
