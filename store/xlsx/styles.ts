/** The styles of a workbook, reduced to what structuring uses, without duplicates. */

import { classifyFormat } from '../../core/grid/format/parseFormat.ts';
import type { CellStyle } from '../../core/grid/grid.ts';
import { builtinFormat, type FormatLocale } from './builtinFormats.ts';
import { readTheme, resolveColor } from './colors.ts';
import { refuseTooLarge } from './fileRefusals.ts';
import { walkXml, type XmlAttributes } from './xml.ts';

export const NumberMeaning = { number: 0, date: 1, time: 2, length: 3 } as const;

export interface StyleBook {
  styles: CellStyle[];
  /** From the number a cell gives to the index in `styles`. */
  indexOf: Uint16Array;
  /** NumberMeaning of each style. */
  meanings: Uint8Array;
  /** 1 where a blank cell of this style can be seen: border or fill. */
  visible: Uint8Array;
}

type Font = Pick<CellStyle, 'bold' | 'italic' | 'fontColor' | 'fontSize'>;
type Fill = Pick<CellStyle, 'filled' | 'fillColor'>;
type Border = CellStyle['border'];

const NO_FONT: Font = { bold: false, italic: false, fontColor: null, fontSize: null };
const NO_FILL: Fill = { filled: false, fillColor: null };
const NO_BORDER: Border = { top: false, bottom: false, left: false, right: false };

interface CellFormat {
  numberFormatId: number;
  font: number;
  fill: number;
  border: number;
  indent: number;
  align: CellStyle['align'];
}

export function readStyles(stylesXml: string | null, themeXml: string | null, locale?: FormatLocale): StyleBook {
  const reader = new StyleReader(readTheme(themeXml), stylesXml === null ? null : readPalette(stylesXml));
  if (stylesXml !== null) walkXml(stylesXml, reader);
  const language = locale ?? (reader.japanese ? 'ja' : 'en');
  if (reader.formats.length === 0) reader.formats.push({ numberFormatId: 0, font: 0, fill: 0, border: 0, indent: 0, align: null });
  const known = new Map<string, number>();
  const styles: CellStyle[] = [];
  const indexOf = Uint16Array.from(reader.formats, (format) => {
    const style: CellStyle = {
      ...(reader.fonts[format.font] ?? NO_FONT),
      ...(reader.fills[format.fill] ?? NO_FILL),
      indent: format.indent,
      align: format.align,
      border: reader.borders[format.border] ?? NO_BORDER,
      numberFormat: reader.numberFormats.get(format.numberFormatId) ?? builtinFormat(format.numberFormatId, language),
    };
    const key = JSON.stringify(style);
    let index = known.get(key);
    if (index === undefined) {
      index = styles.push(style) - 1;
      known.set(key, index);
      if (index > 0xffff)
        throw refuseTooLarge(
          'The workbook has more than 65,536 different cell styles.',
          'Remove unused cell styles and save the workbook again.',
        );
    }
    return index;
  });
  return {
    styles,
    indexOf,
    meanings: Uint8Array.from(styles, (style) => NumberMeaning[classifyFormat(style.numberFormat)]),
    visible: Uint8Array.from(styles, ({ filled, border }) =>
      filled || border.top || border.bottom || border.left || border.right ? 1 : 0,
    ),
  };
}

/** A custom palette comes after the styles that use it, so it is read first. */
function readPalette(stylesXml: string): string[] | null {
  if (!stylesXml.includes('indexedColors')) return null;
  const palette: string[] = [];
  walkXml(stylesXml, {
    open(name, attributes) {
      if (name === 'rgbColor' && palette.length < 64) palette.push((attributes.get('rgb') ?? '000000').slice(-6).toUpperCase());
    },
  });
  return palette.length > 0 ? palette : null;
}

class StyleReader {
  readonly numberFormats = new Map<number, string>();
  readonly fonts: Font[] = [];
  readonly fills: Fill[] = [];
  readonly borders: Border[] = [];
  readonly formats: CellFormat[] = [];
  japanese = false;
  private readonly path: string[] = [];

  constructor(
    private readonly theme: string[],
    private readonly palette: string[] | null,
  ) {}

  open(name: string, attributes: XmlAttributes): void {
    this.path.push(name);
    switch (this.path[1]) {
      case 'numFmts':
        if (name === 'numFmt') this.numberFormats.set(attributes.number('numFmtId') ?? -1, attributes.get('formatCode') ?? 'General');
        break;
      case 'fonts':
        this.openFont(name, attributes);
        break;
      case 'fills':
        this.openFill(name, attributes);
        break;
      case 'borders':
        this.openBorder(name, attributes);
        break;
      case 'cellXfs':
        this.openFormat(name, attributes);
        break;
    }
  }

  close(): void {
    this.path.pop();
  }

  private openFont(name: string, attributes: XmlAttributes): void {
    if (this.path.length === 3) {
      this.fonts.push({ ...NO_FONT });
      return;
    }
    const font = this.fonts.at(-1);
    if (!font || this.path.length !== 4) return;
    const on = attributes.get('val') === undefined || attributes.flag('val');
    if (name === 'b') font.bold = on;
    else if (name === 'i') font.italic = on;
    else if (name === 'sz') font.fontSize = attributes.number('val');
    else if (name === 'color') font.fontColor = resolveColor(attributes, this.theme, this.palette);
    // The first font is the default of the Excel that made the file.
    else if (this.fonts.length === 1 && name === 'charset') this.japanese ||= attributes.number('val') === 128;
    else if (this.fonts.length === 1 && name === 'name')
      this.japanese ||= /[\u3040-\u30ff\u4e00-\u9fff\uff00-\uffef]|^(MS P?(Gothic|Mincho)|Yu (Gothic|Mincho)|Meiryo)/i.test(
        attributes.get('val') ?? '',
      );
  }

  private openFill(name: string, attributes: XmlAttributes): void {
    if (this.path.length === 3) {
      this.fills.push({ ...NO_FILL });
      return;
    }
    const fill = this.fills.at(-1);
    if (!fill) return;
    if (name === 'patternFill') fill.filled = (attributes.get('patternType') ?? 'none') !== 'none';
    else if (name === 'gradientFill') fill.filled = true;
    else if (fill.filled && (name === 'fgColor' || (name === 'color' && fill.fillColor === null))) {
      fill.fillColor = resolveColor(attributes, this.theme, this.palette);
      if (fill.fillColor === 'FFFFFF') fill.filled = false;
    }
  }

  private openBorder(name: string, attributes: XmlAttributes): void {
    if (this.path.length === 3) {
      this.borders.push({ ...NO_BORDER });
      return;
    }
    const border = this.borders.at(-1);
    if (!border || this.path.length !== 4) return;
    const drawn = (attributes.get('style') ?? 'none') !== 'none';
    // Strict OOXML says start and end.
    const side = name === 'start' ? 'left' : name === 'end' ? 'right' : name;
    if (side === 'top' || side === 'bottom' || side === 'left' || side === 'right') border[side] = drawn;
  }

  private openFormat(name: string, attributes: XmlAttributes): void {
    if (name === 'xf' && this.path.length === 3) {
      const id = (key: string): number => attributes.number(key) ?? 0;
      this.formats.push({
        numberFormatId: id('numFmtId'),
        font: id('fontId'),
        fill: id('fillId'),
        border: id('borderId'),
        indent: 0,
        align: null,
      });
      return;
    }
    const format = this.formats.at(-1);
    if (!format || name !== 'alignment') return;
    format.indent = attributes.number('indent') ?? 0;
    const align = attributes.get('horizontal');
    if (align === 'left' || align === 'center' || align === 'right') format.align = align;
    else if (align === 'centerContinuous' || align === 'distributed') format.align = 'center';
  }
}
