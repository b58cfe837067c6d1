import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type OutputTable, rowAt } from '../../../core/structuring/index.ts';
import type { DraftStore } from '../../../store/blobs/blobStore.ts';

/** Characters per write. */
const writtenLength = 262_144;

/** Writes the rows of tables, one after the other, as lines of JSON; returns the name of the file. */
export async function writeRows(blobs: DraftStore, tables: OutputTable[]): Promise<string> {
  const draft = await blobs.draft();
  function* lines() {
    let text = '';
    for (const table of tables) {
      for (let n = 0; n < table.rowCount; n += 1) {
        text += `${JSON.stringify(rowAt(table, n))}\n`;
        if (text.length < writtenLength) continue;
        yield text;
        text = '';
      }
    }
    if (text !== '') yield text;
  }
  await pipeline(lines, createWriteStream(draft));
  return (await blobs.put('', draft, 'json')).key;
}
