import { escapeXml } from './xmlText.ts';

/** How a cell looks. */
export interface CellLook {
  bold?: boolean;
  italic?: boolean;
  underline?: boolean;
  /** `#RRGGBB` */
  color?: string;
  background?: string;
  numberFormat?: string;
  /** Of the font, in points. */
  size?: number;
  align?: 'left' | 'center' | 'right';
  /** Excel shows the text as it is, whatever it begins with, also after somebody has edited it. */
  isQuoted?: boolean;
}

export const usualSize = 11;

/** Excel repairs files with more styles by dropping all of them. */
const mostStyles = 60_000;

const firstCustomFormat = 164;
const builtin: Record<string, number> = { General: 0, '0': 1, '0.00': 2, '@': 49 };

/** The styles of a workbook. Cells name them by number; numbers are given when a style is first used. */
export class StyleTable {
  private readonly formats = new Map<string, number>();
  private readonly fonts = new Map([[fontXml({}), 0]]);
  /** The first two fills mean the same in every file. */
  private readonly fills = new Map([
    ['<fill><patternFill patternType="none"/></fill>', 0],
    ['<fill><patternFill patternType="gray125"/></fill>', 1],
  ]);
  private readonly styles = new Map<string, number>();

  constructor() {
    this.number({});
  }

  number(look: CellLook): number {
    const xml = this.styleXml(look);
    const known = this.styles.get(xml);
    if (known !== undefined || this.styles.size >= mostStyles) return known ?? 0;
    this.styles.set(xml, this.styles.size);
    return this.styles.size - 1;
  }

  xml(): string {
    const list = (name: string, items: Iterable<string>) => {
      const all = [...items];
      return all.length === 0 ? '' : `<${name} count="${all.length}">${all.join('')}</${name}>`;
    };
    const formats = [...this.formats].map(([code, id]) => `<numFmt numFmtId="${id}" formatCode="${escapeXml(code)}"/>`);
    return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">${list('numFmts', formats)}${list('fonts', this.fonts.keys())}${list('fills', this.fills.keys())}<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>${list('cellXfs', this.styles.keys())}<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
  }

  private styleXml(look: CellLook): string {
    const format = this.formatId(look.numberFormat ?? 'General');
    const font = numberOf(this.fonts, fontXml(look));
    const fill = look.background === undefined ? 0 : numberOf(this.fills, fillXml(look.background));
    const applied = `${format ? ' applyNumberFormat="1"' : ''}${font ? ' applyFont="1"' : ''}${fill ? ' applyFill="1"' : ''}`;
    const quote = look.isQuoted ? ' quotePrefix="1"' : '';
    const head = `<xf numFmtId="${format}" fontId="${font}" fillId="${fill}" borderId="0" xfId="0"${quote}${applied}`;
    return look.align ? `${head} applyAlignment="1"><alignment horizontal="${look.align}"/></xf>` : `${head}/>`;
  }

  private formatId(code: string): number {
    const known = builtin[code] ?? this.formats.get(code);
    if (known !== undefined) return known;
    const id = firstCustomFormat + this.formats.size;
    this.formats.set(code, id);
    return id;
  }
}

function numberOf(list: Map<string, number>, xml: string): number {
  const known = list.get(xml) ?? list.size;
  list.set(xml, known);
  return known;
}

function fontXml({ bold, italic, underline, color, size = usualSize }: CellLook): string {
  const shown = color === undefined ? '' : `<color rgb="${argb(color)}"/>`;
  return `<font>${bold ? '<b/>' : ''}${italic ? '<i/>' : ''}${underline ? '<u/>' : ''}<sz val="${size}"/>${shown}<name val="Calibri"/><family val="2"/></font>`;
}

function fillXml(background: string): string {
  return `<fill><patternFill patternType="solid"><fgColor rgb="${argb(background)}"/><bgColor indexed="64"/></patternFill></fill>`;
}

const argb = (color: string) => `FF${color.slice(1).toUpperCase()}`;
