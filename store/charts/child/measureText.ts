import * as vega from 'vega';

type MeasureWidth = (item: { fontSize?: number; text?: unknown }, text?: unknown) => number;

/** Its types leave it out. */
const { textMetrics } = vega as unknown as { textMetrics: { width: MeasureWidth } };

/** Ideographs, kana, hangul and full-width forms are as wide as they are high. */
const fullWidth = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const otherWidth = 0.58;

/**
 * Without a canvas Vega takes every character for equally wide, which cuts off Japanese titles and labels. These widths are those
 * of the fonts that PNG is drawn with, a little rounded up.
 */
export function measureByGlyphs(): void {
  textMetrics.width = (item, text) => widthOf(String(text ?? item.text ?? ''), Number(item.fontSize ?? 11));
}

function widthOf(text: string, fontSize: number): number {
  let width = 0;
  for (const character of text) width += fullWidth.test(character) ? 1 : otherWidth;
  return width * fontSize;
}
