import { formatRange, nameColumn } from '../../a1/address.ts';
import type { Grid } from '../../grid/grid.ts';
import { nameRecordColumns } from '../headers/columnNames.ts';
import { baseOfFile } from '../names/names.ts';
import { type NamingLanguage, namingOf } from '../names/naming.ts';
import { type ParseSpec, SPEC_VERSION } from '../spec/spec.ts';

/** The ParseSpec of a file of records, whose names and types are known: one table, under its names in the first row. */
export function describeRecords(
  [grid]: Grid[],
  columns: { name: string; type: string }[],
  fileName: string,
  language: NamingLanguage,
): Omit<ParseSpec, 'reader'> {
  const bottom = grid?.rows[grid.size - 1] ?? 1;
  const range = { top: 1, left: 1, bottom, right: columns.length };
  const names = nameRecordColumns(
    columns.map(({ name }) => name),
    namingOf({ naming: language }),
  );
  return {
    version: SPEC_VERSION,
    ...(language === 'ja' ? {} : { naming: language }),
    regions: [
      {
        id: 'r1',
        sheet: grid?.sheet ?? '',
        range: formatRange(range),
        kind: 'data',
        name: baseOfFile(fileName),
        header_rows: [1],
        data_range: bottom > 1 ? formatRange({ ...range, top: 2 }) : null,
        orientation: 'rows',
        columns: columns.map(({ type }, k) => ({ name: names[k] ?? '', from: nameColumn(k + 1), type })),
        selected: true,
      },
    ],
  };
}
