/** Parts of a workbook file and how they point to each other. */

import { posix } from 'node:path';
import { type UnpackContext, unpackWhole } from './inflate.ts';
import { walkXml } from './xml.ts';
import { decodeXml } from './xmlEncoding.ts';
import { partKey, type ZipEntry, type ZipIndex } from './zip.ts';

interface Relation {
  id: string;
  /** The last word of its type: `worksheet`, `styles`; the same in transitional and strict OOXML. */
  type: string;
  target: string;
}

export class Package {
  constructor(
    readonly context: UnpackContext,
    readonly index: ZipIndex,
  ) {}

  find(path: string): ZipEntry | undefined {
    return this.index.get(partKey(path));
  }

  /** A small part as text; null when it is not there. */
  async readText(path: string | undefined): Promise<string | null> {
    const entry = path === undefined ? undefined : this.find(path);
    return entry ? decodeXml(await unpackWhole(this.context, entry)) : null;
  }

  /** Relations of a part, or of the package for the empty path; targets are full paths. */
  async readRelations(path: string): Promise<Relation[]> {
    const folder = posix.dirname(path) === '.' ? '' : posix.dirname(path);
    const xml = await this.readText(posix.join(folder, '_rels', `${posix.basename(path)}.rels`));
    const relations: Relation[] = [];
    if (xml === null) return relations;
    walkXml(xml, {
      open(name, attributes) {
        if (name !== 'Relationship' || attributes.get('TargetMode') === 'External') return;
        const target = attributes.get('Target') ?? '';
        relations.push({
          id: attributes.get('Id') ?? '',
          type: (attributes.get('Type') ?? '').replace(/^.*\//, ''),
          target: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
        });
      },
    });
    return relations;
  }
}
