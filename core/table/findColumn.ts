import { nearestName } from '../cells/nearestName.ts';

interface Named {
  name: string;
}

/** Finds a column by name, ignoring case. */
export function findColumn<Column extends Named>(columns: readonly Column[], name: string): Column | null {
  return columns.find((column) => column.name.toLowerCase() === name.toLowerCase()) ?? null;
}

/** What is wrong with a name that no column has. */
export function describeUnknownColumn(columns: readonly Named[], name: string): string {
  const near = nearestName(
    name,
    columns.map((column) => column.name),
  );
  return near ? `is not a column; did you mean ${near}?` : 'is not a column of this table';
}
