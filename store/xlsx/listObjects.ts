/** Excel's own tables on a sheet, and its pivot tables. */

import { parseArea } from '../../core/a1/address.ts';
import type { Grid } from '../../core/grid/grid.ts';
import type { Package } from './package.ts';
import { walkXml } from './xml.ts';

export async function readTables(pack: Package, sheetPath: string, tableIds: string[]): Promise<Grid['listObjects']> {
  const tables: Grid['listObjects'] = [];
  if (tableIds.length === 0) return tables;
  const wanted = new Set(tableIds);
  for (const relation of await pack.readRelations(sheetPath)) {
    if (relation.type !== 'table' || !wanted.has(relation.id)) continue;
    const xml = await pack.readText(relation.target);
    if (xml === null) continue;
    walkXml(xml, {
      open(name, attributes) {
        if (name !== 'table') return;
        const range = parseArea(attributes.get('ref') ?? '');
        if (!range) return;
        const title = attributes.get('displayName') ?? attributes.get('name') ?? '';
        tables.push({
          name: title,
          range,
          headerRows: attributes.number('headerRowCount') ?? 1,
          totalsRows: attributes.number('totalsRowCount') ?? 0,
        });
      },
    });
  }
  return tables;
}

/** More are a file made to keep us busy. */
const MAX_PIVOTS = 200;

/** Where the pivot tables of a sheet stand. Their parts hold no cells: a few kilobytes, of which the head is enough. */
export async function readPivots(pack: Package, sheetPath: string): Promise<NonNullable<Grid['pivots']>> {
  const pivots: NonNullable<Grid['pivots']> = [];
  for (const relation of await pack.readRelations(sheetPath)) {
    if (relation.type !== 'pivotTable' || pivots.length >= MAX_PIVOTS) continue;
    const xml = await pack.readText(relation.target);
    if (xml === null) continue;
    walkXml(xml, {
      open(name, attributes) {
        const range = name === 'location' ? parseArea(attributes.get('ref') ?? '') : null;
        if (range) pivots.push({ range, headerRows: attributes.number('firstDataRow') ?? 1 });
      },
    });
  }
  return pivots;
}
