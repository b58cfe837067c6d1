import { loadConfig } from '../store/config.ts';
import { describeError } from '../store/lifecycle.ts';
import { openDatabase } from '../store/pg/database.ts';
import { migrateDatabase } from '../store/pg/migrate.ts';

/** `npm run migrate`: brings the database in DATABASE_URL up to date. `npm start` does it by itself, `npm run api` does not. */
async function migrate(): Promise<void> {
  const { databaseUrl } = loadConfig();
  if (databaseUrl === null) throw new Error('DATABASE_URL is not set; `npm start` keeps the embedded database up to date by itself.');
  const db = openDatabase(databaseUrl, { poolSize: 1, onError: () => {} });
  try {
    await migrateDatabase(db);
    console.log('The database is up to date.');
  } finally {
    await db.close();
  }
}

try {
  await migrate();
} catch (error) {
  console.error(describeError(error));
  process.exitCode = 1;
}
