import { basename, extname } from 'node:path';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
import type { RecordColumn } from '../../core/records/records.ts';
import { makeTextGrid } from '../csv/textGrid.ts';
import { CellBuffer } from '../xlsx/cellBuffer.ts';
import { StringArena } from '../xlsx/stringArena.ts';
import { StringPool } from '../xlsx/stringPool.ts';
import { type RecordFile, refuseLarge } from './recordFile.ts';

/** Records as a sheet in memory: names in row 1, the text of each value below. */
export async function readRecordGrid(
  records: RecordFile,
  filename: string,
  mostCells: number,
): Promise<{ grid: Grid; columns: RecordColumn[] }> {
  try {
    const cells = new CellBuffer();
    const pool = new StringPool(new StringArena());
    const put = (row: number, k: number, text: string) => {
      if (text !== '') cells.add(row, k + 1, CellKind.text, 0, pool.takeText(text), 0, -1);
    };
    records.columns.forEach(({ name }, k) => {
      put(1, k, name);
    });
    let row = 1;
    for await (const batch of records.batches()) {
      for (let i = 0; i < batch.rows; i += 1) {
        row += 1;
        batch.columns.forEach((texts, k) => {
          put(row, k, texts[i] ?? '');
        });
      }
      if (cells.size > mostCells) throw refuseLarge(`The file has more than ${mostCells} values.`);
    }
    return { grid: makeTextGrid(basename(filename, extname(filename)), cells, pool), columns: records.columns };
  } finally {
    await records.close();
  }
}
