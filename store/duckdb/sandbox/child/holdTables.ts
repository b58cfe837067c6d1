import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { quoteName } from '../../relation.ts';
import type { LoadedRelation } from '../protocol.ts';
import { heldCatalog, type Session } from './session.ts';

/** Queries after which the tables of a session are worth the time that it takes to hold them. */
export const queriesBefore = 3;

/** Files that may be held in memory, of one session; it takes about as much, of the memory that queries have. */
const mostBytes = 64 * 1024 * 1024;

/**
 * Reads small tables into memory, where a query finds rows several times as fast as in files. Views stay before them: a table
 * would have a column `rowid`, and its name could be found. What cannot be held stays as it is.
 */
export async function holdTables({ user }: Session, relations: LoadedRelation[], folder: string, mark: string): Promise<void> {
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  if (bytes > mostBytes) return;
  const held = relations.map((_, i) => `${heldCatalog}.${quoteName(`${mark}_${i}`)}`);
  try {
    for (const [i, { name }] of relations.entries()) await user.run(`CREATE TABLE ${held[i]} AS SELECT * FROM ${quoteName(name)}`);
    // Compresses them.
    await user.run(`CHECKPOINT ${heldCatalog}`);
  } catch {
    for (const table of held) await user.run(`DROP TABLE IF EXISTS ${table}`);
    return;
  }
  for (const [i, { name, columns }] of relations.entries())
    await user.run(`CREATE OR REPLACE TEMP VIEW ${quoteName(name)} AS SELECT ${columns.map(quoteName).join(', ')} FROM ${held[i]}`);
}
