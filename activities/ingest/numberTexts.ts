import { formatValue } from '../../core/grid/format/formatCell.ts';
import { storedText } from '../../core/grid/format/storedText.ts';
import type { CellKind } from '../../core/grid/grid.ts';

interface Texts {
  shown: string;
  stored: string;
  size: number;
}

/**
 * The texts of numbers and dates as their cells show and store them: sheets repeat many, and formatting one costs more than a look-up. Each
 * has one place, which another one may take over.
 */
export class NumberTexts {
  shown = '';
  stored = '';
  /** Bytes of the shown one. */
  size = 0;
  /** The same for texts that were read before; -1 the first time. */
  id = -1;
  private readonly values: Float64Array;
  /** Of the kind and the style, from 1 on. */
  private readonly sorts: Int32Array;
  private readonly ids: Int32Array;
  private readonly texts: Texts[] = [];
  private count = 0;
  private readonly double = new Float64Array(1);
  private readonly words = new Int32Array(this.double.buffer);

  /** @param places a power of two. */
  constructor(private readonly places: number) {
    this.values = new Float64Array(places);
    this.sorts = new Int32Array(places);
    this.ids = new Int32Array(places);
  }

  read(kind: CellKind, value: number, styleId: number, numberFormat: string): void {
    const sort = styleId * 8 + kind;
    const slot = this.slotOf(value, sort);
    if (this.values[slot] === value && this.sorts[slot] === sort) {
      const { shown, stored, size } = this.texts[slot] as Texts;
      this.shown = shown;
      this.stored = stored;
      this.size = size;
      this.id = this.ids[slot] as number;
      return;
    }
    this.shown = formatValue(kind, value, '', numberFormat);
    this.stored = storedText(kind, value, '');
    this.size = Buffer.byteLength(this.shown);
    this.id = -1;
    this.values[slot] = value;
    this.sorts[slot] = sort;
    this.ids[slot] = this.count;
    this.count += 1;
    this.texts[slot] = { shown: this.shown, stored: this.stored, size: this.size };
  }

  private slotOf(value: number, sort: number): number {
    const { double, words } = this;
    double[0] = value;
    const hash = Math.imul((words[0] as number) ^ Math.imul((words[1] as number) + sort, 0x9e3779b1), 0x85ebca6b);
    return (hash ^ (hash >>> 15)) & (this.places - 1);
  }
}
