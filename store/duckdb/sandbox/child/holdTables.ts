import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { quoteName } from '../../relation.ts';
import type { LoadedRelation } from '../protocol.ts';
import { heldCatalog, type Session } from './session.ts';

/** Queries after which the tables of a session are worth the time that it takes to hold them. */
export const queriesBefore = 3;

/** Files that may be held in memory, of one session; it takes about as much, of the memory that queries have. */
const mostBytes = 64 * 1024 * 1024;
/** Numbers of a table may take so much more, for which they are read in half of the time. */
const mostNumberBytes = 64 * 1024 * 1024;
/** Of most numbers, dates and times. */
const numberBytes = 8;

/**
 * Reads small tables into memory, where a query finds rows several times as fast as in files. Views stay before them: a table
 * would have a column `rowid`, and its name could be found. What cannot be held stays as it is.
 */
export async function holdTables({ user }: Session, relations: LoadedRelation[], folder: string, mark: string): Promise<void> {
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  if (bytes > mostBytes) return;
  const held = relations.map((_, i) => `${heldCatalog}.${quoteName(`${mark}_${i}`)}`);
  try {
    for (const [i, { name }] of relations.entries()) await hold({ user }, quoteName(name), held[i] as string);
    // Compresses them.
    await user.run(`CHECKPOINT ${heldCatalog}`);
  } catch {
    for (const table of held) await user.run(`DROP TABLE IF EXISTS ${table}`);
    return;
  }
  for (const [i, { name, columns }] of relations.entries())
    await user.run(`CREATE OR REPLACE TEMP VIEW ${quoteName(name)} AS SELECT ${columns.map(quoteName).join(', ')} FROM ${held[i]}`);
}

/** Texts are compressed, since each different one is then looked at once; so are numbers where they are many. */
async function hold({ user }: Pick<Session, 'user'>, from: string, to: string): Promise<void> {
  const described = (await user.runAndReadAll(`DESCRIBE ${from}`)).getRows();
  const columns = described.map(([name, type]) => ({ name: quoteName(String(name)), type: String(type) }));
  const numbers = columns.filter(({ type }) => type !== 'VARCHAR').length;
  const [[rows] = [0n]] = (await user.runAndReadAll(`SELECT count(*) FROM ${from}`)).getRows();
  const isPlain = Number(rows) * numbers * numberBytes <= mostNumberBytes;
  const definitions = columns.map(({ name, type }) =>
    isPlain && plainTypes.has(type.replace(/\(.*/, '')) ? `${name} ${type} USING COMPRESSION uncompressed` : `${name} ${type}`,
  );
  await user.run(`CREATE TABLE ${to} (${definitions.join(', ')}); INSERT INTO ${to} SELECT * FROM ${from}`);
}

const plainTypes = new Set(['BIGINT', 'INTEGER', 'DOUBLE', 'DECIMAL', 'DATE', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE']);
