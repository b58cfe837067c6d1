import { execFile } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { inheritEnv } from '../../store/childEnv.ts';
import { projectDir } from '../../store/config.ts';
import { createDatabase, type TestDatabase } from '../setup/database.ts';

/** `npm run migrate`, which a cluster needs: its API and workers do not migrate. */

let empty: TestDatabase;
beforeAll(async () => {
  empty = await createDatabase(inject('postgresUrl'));
});
afterAll(() => empty.drop());

function migrate(databaseUrl: string | undefined): Promise<{ code: number; text: string }> {
  const env = inheritEnv({ DATABASE_URL: databaseUrl });
  return new Promise((resolve) => {
    execFile(process.execPath, [join(projectDir, 'scripts/start.mjs'), 'migrate'], { cwd: projectDir, env }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, text: `${stdout}${stderr}` }),
    );
  });
}

it('makes the tables of an empty database, and has nothing to do the second time', async () => {
  for (let time = 0; time < 2; time += 1) expect(await migrate(empty.url)).toEqual({ code: 0, text: 'The database is up to date.\n' });
  const client = new pg.Client(empty.url);
  await client.connect();
  const { rows } = await client.query("SELECT to_regclass('tables') IS NOT NULL AS made");
  await client.end();
  expect(rows).toEqual([{ made: true }]);
});

it('says what is missing', async () => {
  const { code, text } = await migrate(undefined);
  expect([code, text]).toEqual([1, expect.stringContaining('DATABASE_URL is not set')]);
});
