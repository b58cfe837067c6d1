/** How many cells a sheet says it has, at most. Many programs do not say it, and what they say may be wrong: this is a hint. */

import { parseArea } from '../../core/a1/address.ts';
import { type UnpackContext, unpackEntry } from './inflate.ts';
import { recodeXml } from './xmlEncoding.ts';
import type { ZipEntry } from './zip.ts';

/** A cell takes at least this much of a sheet: `<c r="A1"><v>1</v></c>`. */
const LEAST_CELL_BYTES = 24;
/** It is said before the cells, of which there are none in the first bytes. */
const HEAD_BYTES = 4096;
const DIMENSION = /<(?:[\w.-]+:)?dimension\s[^>]*?ref\s*=\s*["']([^"']*)["']/;

export function boundCells(entry: ZipEntry): number {
  return Math.floor(entry.size / LEAST_CELL_BYTES);
}

export async function readClaimedCells(context: UnpackContext, entry: ZipEntry): Promise<number | null> {
  for await (const chunk of recodeXml(unpackEntry(context, entry))) {
    const area = parseArea(DIMENSION.exec(chunk.toString('utf8', 0, HEAD_BYTES))?.[1] ?? '');
    return area && (area.bottom - area.top + 1) * (area.right - area.left + 1);
  }
  return null;
}
