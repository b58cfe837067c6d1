import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { OutputTable } from '../../../core/structuring/index.ts';
import type { DraftStore } from '../../../store/blobs/blobStore.ts';

/** Characters per write. */
const writtenLength = 262_144;

/** Writes the rows of tables, one after the other, as lines of JSON. */
export async function writeRows(blobs: DraftStore, tables: OutputTable[]): Promise<{ name: string; bytes: number }> {
  const draft = await blobs.draft();
  function* lines() {
    let text = '';
    for (const { rows } of tables) {
      for (const row of rows) {
        text += `${JSON.stringify(row)}\n`;
        if (text.length < writtenLength) continue;
        yield text;
        text = '';
      }
    }
    if (text !== '') yield text;
  }
  await pipeline(lines, createWriteStream(draft));
  const { key, size } = await blobs.put('', draft, 'json');
  return { name: key, bytes: size };
}
