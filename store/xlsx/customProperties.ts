/** The custom properties of a document: texts under names, which programs keep without showing them among the cells. */

import type { Package } from './package.ts';
import { walkXml } from './xml.ts';

export async function readCustomProperties(pack: Package): Promise<Map<string, string>> {
  const properties = new Map<string, string>();
  const relation = (await pack.readRelations('')).find(({ type }) => type === 'custom-properties');
  const xml = await pack.readText(relation?.target);
  if (xml === null) return properties;
  let open: string | null = null;
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'property') open = attributes.get('name') ?? null;
    },
    text(text) {
      if (open !== null) properties.set(open, (properties.get(open) ?? '') + text);
    },
    close(name) {
      if (name === 'property') open = null;
    },
  });
  return properties;
}
