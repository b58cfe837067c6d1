import type { IntegerColumn } from '../../store/parquet/columnEncoders.ts';
import { type GroupColumn, openColumn, type ParquetFile } from '../../store/parquet/parquetFile.ts';
import type { TextColumn } from '../../store/parquet/textColumn.ts';
import { keptColumns } from '../../store/tables/sourceCells.ts';
import type { DraftFiles } from './draftFiles.ts';
import type { NumberTexts } from './numberTexts.ts';
import type { RawLimits } from './rawLimits.ts';

export interface Kept {
  key: string;
  /** Cells with a formula. */
  formulas: number;
  /** Cells that store something else than they show. */
  values: number;
}

const GROUP_CELLS = 131_072;

/** Writes what the texts of a raw table do not tell: formulas, and values stored in another form than shown. */
export class KeptCellsWriter {
  private readonly counts = { formulas: 0, values: 0 };
  private file: ParquetFile | null = null;
  private group = openGroup();
  private cells = 0;

  constructor(
    private readonly files: DraftFiles,
    private readonly limits: RawLimits,
  ) {}

  /** @param from which has just read `stored`, if any has. */
  add(row: number, column: number, stored: string, formula: string | undefined, differs: boolean, from: NumberTexts | null): void {
    const { rows, columns, values, formulas } = this.group;
    rows.values.add(row);
    columns.values.add(column);
    const isKnown = from !== null && from.id >= 0 && values.values.putAgain(this.cells, from, from.id, stored.length);
    if (!isKnown) values.values.putString(this.cells, stored);
    if (formula !== undefined) {
      formulas.values.putString(this.cells, formula);
      this.counts.formulas += 1;
    }
    if (differs) this.counts.values += 1;
    this.cells += 1;
  }

  /** Writes the collected cells once there are many. */
  async settle(): Promise<void> {
    if (this.cells >= GROUP_CELLS || this.group.values.values.size + this.group.formulas.values.size >= this.limits.groupBytes)
      await this.flush();
  }

  async finish(prefix: string): Promise<Kept | null> {
    if (this.cells > 0) await this.flush();
    if (!this.file) return null;
    const { key } = await this.files.keep(this.file, prefix);
    return { key, ...this.counts };
  }

  private async flush(): Promise<void> {
    this.file ??= await this.files.create();
    const { rows, columns, values, formulas } = this.group;
    await this.file.writeGroup(this.cells, [rows, columns, values, formulas]);
    this.group = openGroup();
    this.cells = 0;
  }
}

interface KeptGroup {
  rows: GroupColumn<IntegerColumn>;
  columns: GroupColumn<IntegerColumn>;
  values: GroupColumn<TextColumn>;
  formulas: GroupColumn<TextColumn>;
}

function openGroup(): KeptGroup {
  const [rows, columns, values, formulas] = keptColumns;
  return {
    rows: openColumn({ fieldId: rows.id, ...rows }),
    columns: openColumn({ fieldId: columns.id, ...columns }),
    values: openColumn({ fieldId: values.id, ...values }),
    formulas: openColumn({ fieldId: formulas.id, ...formulas }),
  };
}
