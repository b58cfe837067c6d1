/** The list of sheets, the date system and the defined names. */

import { parseArea } from '../../core/a1/address.ts';
import type { Grid, Range } from '../../core/grid/grid.ts';
import { refuseDamaged, refuseTooLarge } from './fileRefusals.ts';
import type { ReadLimits } from './readLimits.ts';
import { walkXml } from './xml.ts';

interface ListedSheet {
  name: string;
  relationId: string;
  state: NonNullable<Grid['state']>;
}

interface DefinedName {
  name: string;
  /** Position in the list of sheets, for names that count on one sheet only. */
  sheet: number | null;
  text: string;
}

interface WorkbookPart {
  sheets: ListedSheet[];
  names: DefinedName[];
  date1904: boolean;
}

export function readWorkbookPart(xml: string, limits: ReadLimits): WorkbookPart {
  const part: WorkbookPart = { sheets: [], names: [], date1904: false };
  const seen = new Set<string>();
  let openName: DefinedName | null = null;
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'workbookPr') part.date1904 = attributes.flag('date1904');
      else if (name === 'sheet') {
        const state = attributes.get('state');
        const title = attributes.get('name') ?? `Sheet${part.sheets.length + 1}`;
        // Everything else refers to a sheet by its name.
        if (seen.has(title)) throw refuseDamaged('two of its sheets have the same name');
        seen.add(title);
        part.sheets.push({
          name: title,
          relationId: attributes.get('id') ?? '',
          state: state === 'hidden' || state === 'veryHidden' ? state : 'visible',
        });
      } else if (name === 'definedName') {
        openName = { name: attributes.get('name') ?? '', sheet: attributes.number('localSheetId'), text: '' };
        part.names.push(openName);
      }
      if (part.sheets.length > limits.sheets) throw refuseTooLarge(`The workbook has more than ${limits.sheets} sheets.`);
      if (part.names.length > limits.objects) throw refuseTooLarge(`The workbook has more than ${limits.objects} defined names.`);
    },
    text(text) {
      if (openName) openName.text += text;
    },
    close(name) {
      if (name === 'definedName') openName = null;
    },
  });
  return part;
}

/** Names by the sheet they point into. Names that are formulas or constants point nowhere. */
export function placeNames(part: WorkbookPart): Map<string, Grid['names']> {
  const placed = new Map<string, Grid['names']>();
  for (const defined of part.names) {
    for (const { sheet, range } of readAreas(defined.text)) {
      const list = placed.get(sheet.toLowerCase()) ?? [];
      list.push({ name: defined.name, range });
      placed.set(sheet.toLowerCase(), list);
    }
  }
  return placed;
}

const AREA = /^(?:'((?:[^']|'')+)'|([^'!,()]+))!(\$?[A-Z0-9$:]+)$/i;

/** `Sheet1!$A$1:$B$2,'My Sheet'!$C:$C`; nothing when any piece is more than an area. */
function readAreas(text: string): { sheet: string; range: Range }[] {
  if (text.length > 10_000) return [];
  const areas: { sheet: string; range: Range }[] = [];
  for (const piece of splitAreas(text)) {
    const [, quoted, plain, area] = AREA.exec(piece) ?? [];
    const range = parseArea(area ?? '');
    if (!range) return [];
    areas.push({ sheet: quoted?.replaceAll("''", "'") ?? plain ?? '', range });
  }
  return areas;
}

/** At commas that are not inside of a quoted sheet name. */
function splitAreas(text: string): string[] {
  const pieces: string[] = [];
  let quoted = false;
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] === "'") quoted = !quoted;
    else if (text[i] === ',' && !quoted) {
      pieces.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  pieces.push(text.slice(start).trim());
  return pieces;
}
