/** Colours of a workbook: plain, by index into a palette, or by theme with a tint. */

import { walkXml, type XmlAttributes } from './xml.ts';

/** Palette of Excel 97, still in use by index. */
const PALETTE: string[] =
  (
    '000000FFFFFFFF000000FF000000FFFFFF00FF00FF00FFFF000000FFFFFFFF000000FF000000FFFFFF00FF00FF00FFFF' +
    '800000008000000080808000800080008080C0C0C08080809999FF993366FFFFCCCCFFFF660066FF80800066CCCCCCFF' +
    '000080FF00FFFFFF0000FFFF8000808000000080800000FF00CCFFCCFFFFCCFFCCFFFF9999CCFFFF99CCCC99FFFFCC99' +
    '3366FF33CCCC99CC00FFCC00FF9900FF6600666699969696003366339966003300333300993300993366333399333333'
  ).match(/.{6}/g) ?? [];

/** In the order in which styles count them: Excel swaps dark and light. */
const THEME_ORDER = ['lt1', 'dk1', 'lt2', 'dk2', 'accent1', 'accent2', 'accent3', 'accent4', 'accent5', 'accent6', 'hlink', 'folHlink'];
const DEFAULT_THEME = [
  'FFFFFF',
  '000000',
  'EEECE1',
  '1F497D',
  '4F81BD',
  'C0504D',
  '9BBB59',
  '8064A2',
  '4BACC6',
  'F79646',
  '0000FF',
  '800080',
];

export function readTheme(xml: string | null): string[] {
  const colors = [...DEFAULT_THEME];
  if (xml === null) return colors;
  let slot = -1;
  let inScheme = false;
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'clrScheme') inScheme = true;
      if (!inScheme) return;
      if (THEME_ORDER.includes(name)) slot = THEME_ORDER.indexOf(name);
      const value = name === 'srgbClr' ? attributes.get('val') : name === 'sysClr' ? attributes.get('lastClr') : undefined;
      if (slot >= 0 && value) colors[slot] = value.toUpperCase();
    },
    close(name) {
      if (name === 'clrScheme') inScheme = false;
      if (THEME_ORDER.includes(name)) slot = -1;
    },
  });
  return colors;
}

/** `RRGGBB`, or null for automatic colours. */
export function resolveColor(attributes: XmlAttributes, theme: string[], palette: string[] | null): string | null {
  const tint = attributes.number('tint') ?? 0;
  const rgb = attributes.get('rgb');
  const byTheme = attributes.number('theme');
  const indexed = attributes.number('indexed');
  let color: string | undefined;
  if (rgb && /^[0-9A-Fa-f]{6,8}$/.test(rgb)) color = rgb.slice(-6).toUpperCase();
  else if (byTheme !== null) color = theme[byTheme];
  else if (indexed !== null) color = (palette ?? PALETTE)[indexed];
  if (!color) return null;
  return tint === 0 ? color : tintColor(color, tint);
}

/** Lighter or darker in the lightness of HSL, as Excel's palette does. */
function tintColor(color: string, tint: number): string {
  const [r, g, b] = [0, 2, 4].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255) as [number, number, number];
  const high = Math.max(r, g, b);
  const low = Math.min(r, g, b);
  const lightness = (high + low) / 2;
  const wanted = tint < 0 ? lightness * (1 + Math.max(-1, tint)) : lightness * (1 - Math.min(1, tint)) + Math.min(1, tint);
  // With hue and saturation kept, each channel moves in step with the spread that the new lightness allows.
  const spread = (l: number): number => 1 - Math.abs(2 * l - 1);
  const factor = spread(lightness) === 0 ? 0 : spread(wanted) / spread(lightness);
  return [r, g, b]
    .map((channel) => Math.round(Math.min(1, Math.max(0, wanted + (channel - lightness) * factor)) * 255))
    .map((channel) => channel.toString(16).padStart(2, '0').toUpperCase())
    .join('');
}
