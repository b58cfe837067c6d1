import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { openDatabase } from '../../store/pg/database.ts';
import { migrateDatabase } from '../../store/pg/migrate.ts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A database that has every table and no rows; the databases of tests are copies of it, so that migrations run once. */
export async function createTemplate(postgresUrl: string): Promise<TestDatabase> {
  const template = await createDatabase(postgresUrl);
  // Nobody may be connected to a database that is copied.
  const db = openDatabase(template.url, { poolSize: 2, onError: () => {} });
  await migrateDatabase(db);
  await db.close();
  return template;
}

/** A database of its own for a test; a copy of the template, or an empty one without it. */
export async function createDatabase(postgresUrl: string, templateUrl?: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = templateUrl === undefined ? '' : ` TEMPLATE ${nameOf(templateUrl)}`;
  await asOwner(postgresUrl, (client) => retryWhile('55006', () => client.query(`CREATE DATABASE ${name}${template}`)));
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    // Now and then the server's own cleaning is at work in it, which nobody but its owner may end.
    drop: () => asOwner(postgresUrl, (client) => retryWhile('42501', () => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}

const nameOf = (url: string) => new URL(url).pathname.slice(1);

async function asOwner(postgresUrl: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(postgresUrl);
  await client.connect();
  await work(client).finally(() => client.end());
}

async function retryWhile(code: string, attempt: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const refused = await attempt().then(
      () => null,
      (error: { code?: string }) => error,
    );
    if (refused === null) return;
    if (refused.code !== code || tries === 100) throw refused;
    await delay(100);
  }
}
