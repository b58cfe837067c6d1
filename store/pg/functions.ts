import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { functionsRevision, retiredFunctions } from '../../schema/functions/revision.ts';
import { projectDir } from '../config.ts';

const folder = join(projectDir, 'schema/functions');

export interface FunctionFile {
  name: string;
  text: string;
  hash: string;
}

/** The functions of the database, each after those that it mentions, because some must exist before it is created. */
export async function readFunctionFiles(): Promise<FunctionFile[]> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  const files = await Promise.all(
    names.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8');
      return { name: file.slice(0, -'.sql'.length), text, hash: hashText(text) };
    }),
  );
  const ordered = new Set<FunctionFile>();
  const visited = new Set<FunctionFile>();
  const add = (file: FunctionFile) => {
    if (visited.has(file)) return;
    visited.add(file);
    for (const other of files) if (new RegExp(`\\b${other.name}\\(`).test(file.text)) add(other);
    ordered.add(file);
  };
  for (const file of files) add(file);
  return [...ordered];
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Creates the functions whose text has changed and drops retired ones, in one transaction. The caller holds the lock of
 * migrations. `wasEmpty`: the database was just created, so no other process can be using retired functions.
 */
export async function applyFunctions(client: pg.PoolClient, wasEmpty: boolean): Promise<void> {
  const files = await readFunctionFiles();
  await client.query('BEGIN');
  try {
    // In the schema of the migration records. A function without a hash is retired since `applied_at`.
    await client.query(
      `CREATE TABLE IF NOT EXISTS drizzle.applied_functions
         (name text PRIMARY KEY, hash text, revision integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    await applyFiles(client, files, wasEmpty);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function applyFiles(client: pg.PoolClient, files: FunctionFile[], wasEmpty: boolean): Promise<void> {
  const { rows } = await client.query<{ name: string; hash: string | null; revision: number }>(
    'SELECT name, hash, revision FROM drizzle.applied_functions',
  );
  // A newer version of the service has applied its functions already.
  if (rows.some(({ revision }) => revision > functionsRevision.number)) return;
  const applied = new Map(rows.map(({ name, hash }) => [name, hash]));
  for (const { name, text, hash } of files) {
    if (applied.get(name) === hash) continue;
    await client.query(text);
    await record(client, name, hash);
  }
  for (const signature of retiredFunctions) if (!applied.has(signature)) await record(client, signature, null);
  await dropRetired(client, wasEmpty ? '0' : '1 day');
}

async function record(client: pg.PoolClient, name: string, hash: string | null): Promise<void> {
  await client.query(
    `INSERT INTO drizzle.applied_functions (name, hash, revision) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, revision = excluded.revision, applied_at = excluded.applied_at`,
    [name, hash, functionsRevision.number],
  );
}

async function dropRetired(client: pg.PoolClient, age: string): Promise<void> {
  const { rows } = await client.query<{ signature: string }>(
    `SELECT name AS signature FROM drizzle.applied_functions
     WHERE name = ANY ($1) AND hash IS NULL AND applied_at <= now() - $2::interval AND to_regprocedure(name) IS NOT NULL`,
    [retiredFunctions, age],
  );
  // In one statement, because some depend on others.
  if (rows.length > 0) await client.query(`DROP FUNCTION ${rows.map(({ signature }) => signature).join(', ')}`);
}
