/** Excel's own tables on a sheet. */

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
