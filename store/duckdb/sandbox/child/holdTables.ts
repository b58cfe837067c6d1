import { quoteName } from '../../relation.ts';
import type { LoadedRelation } from '../protocol.ts';
import { heldCatalog, type Session } from './session.ts';

/** Of most numbers, dates and times. */
const numberBytes = 8;

/**
 * Reads tables into memory, where a query finds rows several times as fast as in files. Views stay before them: a table would have
 * a column `rowid`, and its name could be found. What cannot be held stays as it is. `bytes` are those of the files; returns about
 * what is taken, `room` more at most.
 */
export async function holdTables(
  { user }: Session,
  relations: LoadedRelation[],
  { mark, bytes, room }: { mark: string; bytes: number; room: number },
): Promise<number> {
  const held = relations.map(({ name }, i) => ({ from: quoteName(name), to: `${heldCatalog}.${quoteName(`${mark}_${i}`)}` }));
  let taken = bytes;
  try {
    for (const { from, to } of held) taken += await hold({ user }, from, to, bytes + room - taken);
    // Compresses them.
    await user.run(`CHECKPOINT ${heldCatalog}`);
  } catch {
    for (const { to } of held) await user.run(`DROP TABLE IF EXISTS ${to}`);
    return 0;
  }
  for (const [i, { columns }] of relations.entries())
    await user.run(`CREATE OR REPLACE TEMP VIEW ${held[i]?.from} AS SELECT ${columns.map(quoteName).join(', ')} FROM ${held[i]?.to}`);
  return taken;
}

/**
 * Texts are compressed: each different one is then looked at once. Numbers are not, where there is room: they are read in half of
 * the time. Returns what that takes.
 */
async function hold({ user }: Pick<Session, 'user'>, from: string, to: string, room: number): Promise<number> {
  const described = (await user.runAndReadAll(`DESCRIBE ${from}`)).getRows();
  const columns = described.map(([name, type]) => ({ name: quoteName(String(name)), type: String(type) }));
  const isPlain = ({ type }: { type: string }) => plainTypes.has(type.replace(/\(.*/, ''));
  const [[rows] = [0n]] = (await user.runAndReadAll(`SELECT count(*) FROM ${from}`)).getRows();
  const plainBytes = Number(rows) * columns.filter(isPlain).length * numberBytes;
  const fits = plainBytes <= Math.min(room, mostPlainBytes);
  const definitions = columns.map((column) => {
    const compression = fits && isPlain(column) ? ' USING COMPRESSION uncompressed' : '';
    return `${column.name} ${column.type}${compression}`;
  });
  await user.run(`CREATE TABLE ${to} (${definitions.join(', ')}); INSERT INTO ${to} SELECT * FROM ${from}`);
  return fits ? plainBytes : 0;
}

/** Of one table. */
const mostPlainBytes = 64 * 1024 * 1024;
const plainTypes = new Set(['BIGINT', 'INTEGER', 'DOUBLE', 'DECIMAL', 'DATE', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE']);
