import { formatDate } from '../../core/grid/format/formatCell.ts';
import { storedText } from '../../core/grid/format/storedText.ts';
import { CellKind } from '../../core/grid/grid.ts';

export interface DateText {
  shown: string;
  stored: string;
}

const MOST_DATES = 20_000;

/** Caches formatted dates: sheets repeat the same dates, and formatting costs more than a lookup. */
export class DateTexts {
  private readonly byStyle = new Map<number, Map<number, DateText>>();
  private size = 0;

  read(ms: number, styleId: number, numberFormat: string): DateText {
    let known = this.byStyle.get(styleId);
    if (!known) {
      known = new Map();
      this.byStyle.set(styleId, known);
    }
    let text = known.get(ms);
    if (!text) {
      text = { shown: formatDate(ms, numberFormat), stored: storedText(CellKind.date, ms, '') };
      if (this.size >= MOST_DATES) this.clear();
      known.set(ms, text);
      this.size += 1;
    }
    return text;
  }

  private clear(): void {
    for (const known of this.byStyle.values()) known.clear();
    this.size = 0;
  }
}
