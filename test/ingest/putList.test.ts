import { describe, expect, it } from 'vitest';
import { addBytes, openTexts, putList } from '../../activities/ingest/putList.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { PLAIN_STYLE } from '../../core/grid/grid.ts';
import { readValue } from '../../core/structuring/sheet/cellValue.ts';
import { CellValues } from '../../core/structuring/sheet/cellValues.ts';
import { convertValue, type InferredType } from '../../core/types/infer.ts';
import { storeType } from '../../store/parquet/storedTypes.ts';
import { makeGrid } from '../structuring/picture.ts';

/** Cells of all kinds, among them moments that are no dates: a time of day, a day of some month, a length of time. */
const sheet = () => {
  const plain = ['12', '-1.5', "'12", ' padded ', '-', '', '東京', 'TRUE', '@2024-04-01', '@1900-01-05', '@1900-01-07'];
  const moments = [Date.UTC(2024, 3, 1, 10, 20, 30, 400), Date.UTC(1899, 11, 31, 8), -0.5, Date.UTC(9999, 11, 31, 23, 59, 59)];
  const grid = makeGrid([...plain, ...moments.map(() => '@2024-04-01')].map((cell) => [cell, 'x']));
  const at = (row: number) => grid.rows.findIndex((each, i) => each === row && grid.columns[i] === 1);
  const addStyle = (numberFormat: string) => grid.styles.push({ ...PLAIN_STYLE, numberFormat }) - 1;
  grid.styleIds[at(plain.length - 1)] = addStyle('d');
  grid.styleIds[at(plain.length)] = addStyle('[h]:mm');
  moments.forEach((moment, n) => {
    grid.numbers[at(plain.length + n + 1)] = moment;
  });
  const cells = Int32Array.from({ length: plain.length + moments.length }, (_, n) => at(n + 1));
  return { grid, cells: Int32Array.from([...cells, -1]) };
};

describe('values of cells', () => {
  it.each<InferredType>(['VARCHAR', 'BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP'])('are as %s what each cell is as such', (type) => {
    const { grid, cells } = sheet();
    const list = new CellValues(grid, cells, { type });
    cells.forEach((cell, n) => {
      const value = cell < 0 ? null : convertValue(readValue(grid, cell), { type });
      expect(list.at(n)).toBe(value);
      expect(list.isNull(n)).toBe(value === null);
    });
  });

  it.each<InferredType>(['VARCHAR', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP'])(
    'are put into a file as %s as they would be one by one',
    (type) => {
      const { grid, cells } = sheet();
      const list = new CellValues(grid, cells, { type });
      const values = Array.from(cells, (_, n) => list.at(n));
      const put = (from: CellValues | typeof values) => {
        const target = storeType(parseColumnType(type) as ColumnType).open();
        putList(target, from, cells.length, (row) => cells.length - 1 - row, openTexts(grid));
        return { bounds: target.bounds(), ...target.finish(cells.length) };
      };
      expect(put(list)).toEqual(put(values));
      const measure = (from: CellValues | typeof values) => {
        const bytes = new Float64Array(cells.length);
        addBytes(bytes, from, openTexts(grid));
        return bytes;
      };
      if (type === 'VARCHAR') expect(measure(list)).toEqual(measure(values));
    },
  );
});
