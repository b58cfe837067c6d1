import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { workbooks } from '../../schema/index.ts';
import { acrossAccounts, inAccount } from '../../store/pg/accountScope.ts';
import { type Actor, type Committer, commit } from '../../store/pg/commit.ts';
import { type Database, openDatabase } from '../../store/pg/database.ts';
import { hmacPads } from '../../store/secrets.ts';
import { createTestDatabase } from '../setup/api.ts';
import { openSql } from '../setup/everybody.ts';
import { fillTables } from '../setup/rowsOfAccount.ts';

/** Connections go from hand to hand; whose rows they show goes with the work, whatever becomes of it. */

const [ann, ben] = ['acc_ANN', 'acc_BEN'];
const actor: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let sql: ReturnType<typeof openSql>;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = openSql(database.url, 2);
  await fillTables(sql, ann);
  await fillTables(sql, ben);
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const open = (poolSize: number) => {
  db = openDatabase(database.url, { poolSize, onError: () => {} });
};
beforeEach(() => {
  open(1);
  return () => db.close();
});

const listAccounts = async (): Promise<string[]> =>
  (await db.pool.query<{ id: string }>('SELECT account_id AS id FROM workbooks ORDER BY 1')).rows.map(({ id }) => id);
const asAnn = () => inAccount(ann, listAccounts);
const asBen = () => inAccount(ben, listAccounts);
const write = <T>(change: Parameters<typeof commit<T, T>>[2]) =>
  commit({ db, auditPads: hmacPads(Buffer.alloc(32)) } as Committer, actor, change, async (result) => result);

const listen = (client: pg.PoolClient, sent: unknown[]) => {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    sent.push(args[0]);
    return query(...args);
  }) as typeof client.query;
};

describe('row security: a connection that was used before', () => {
  it('shows the rows of who uses it now', async () => {
    expect(await asBen()).toEqual([ben]);
    expect(await asAnn()).toEqual([ann]);
    expect(await acrossAccounts(listAccounts)).toEqual([ann, ben]);
    expect(await asAnn()).toEqual([ann]);
    expect(await listAccounts()).toEqual([]);
    expect(db.pool.totalCount).toBe(1);
  });

  it('is not told again what it knows', async () => {
    await asAnn();
    const sent: unknown[] = [];
    const client = await inAccount(ann, () => db.pool.connect());
    listen(client, sent);
    client.release();
    for (let i = 0; i < 5; i++) await asAnn();
    expect(sent).toHaveLength(5);
    await asBen();
    expect(sent).toHaveLength(7);
  });

  it('is taken by who used it last, if it is free', async () => {
    await db.close();
    open(2);
    const sent: unknown[] = [];
    const clients = await Promise.all([ann, ben].map((accountId) => inAccount(accountId, () => db.pool.connect())));
    for (const client of clients) {
      listen(client, sent);
      client.release();
    }
    for (let i = 0; i < 5; i++) {
      expect(await asAnn()).toEqual([ann]);
      expect(await asBen()).toEqual([ben]);
    }
    expect(sent).toHaveLength(10);
  });

  it('is two connections for many at once, each time with their own rows', async () => {
    await db.close();
    open(2);
    const kinds = [
      { look: asAnn, sees: [ann] },
      { look: asBen, sees: [ben] },
      { look: listAccounts, sees: [] },
      { look: () => acrossAccounts(listAccounts), sees: [ann, ben] },
      { look: () => inAccount(ann, () => write(async ({ client }) => listWith(client))), sees: [ann] },
      { look: () => inAccount(ben, () => write(async ({ client }) => listWith(client))), sees: [ben] },
    ];
    const order = Array.from({ length: 600 }, (_, i) => kinds[(i * 7 + (i >> 3)) % kinds.length] as (typeof kinds)[number]);
    const seen = await Promise.all(order.map(({ look }) => look()));
    seen.forEach((ids, i) => {
      expect(ids).toEqual(order[i]?.sees);
    });
    expect(db.pool.totalCount).toBe(2);
  });
});

const listWith = async (client: { query: typeof db.pool.query }): Promise<string[]> =>
  (await client.query<{ id: string }>('SELECT account_id AS id FROM workbooks ORDER BY 1')).rows.map(({ id }) => id);

describe('row security: a statement that is only built', () => {
  it('is for whom it was built for, though it is sent when somebody waits for it', async () => {
    const built = () => db.orm.select({ id: workbooks.accountId }).from(workbooks);
    expect(await inAccount(ann, built)).toEqual([{ id: ann }]);
    expect(await built()).toEqual([]);
  });
});

/** Asks again where the connection that was ended last was not seen to be gone yet. */
async function findBackend(): Promise<number | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { rows } = await inAccount(ben, () => db.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'));
      return rows[0]?.pid;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

describe('row security: work that fails', () => {
  it('leaves nobody behind, when a statement is refused', async () => {
    await expect(inAccount(ben, () => db.pool.query('SELECT 1 / 0'))).rejects.toMatchObject({ code: '22012' });
    expect(await listAccounts()).toEqual([]);
    expect(await asAnn()).toEqual([ann]);
  });

  it('leaves nobody behind, when the connection is lost before, between or while it is told', async () => {
    for (let round = 0; round < 10; round++) {
      const ending = sql.query('SELECT pg_terminate_backend($1)', [await findBackend()]);
      if (round % 2 === 0) await ending;
      // It fails or is done on another connection; it never shows the rows of another.
      const outcomes = await Promise.allSettled([asAnn(), listAccounts(), asBen()]);
      const seen = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : null));
      expect([[ann], null]).toContainEqual(seen[0]);
      expect([[], null]).toContainEqual(seen[1]);
      expect([[ben], null]).toContainEqual(seen[2]);
      await ending;
    }
    await expect.poll(asAnn).toEqual([ann]);
    expect(await listAccounts()).toEqual([]);
  });
});

describe('row security: a transaction', () => {
  it('is for whom it was begun, also when the connection was told another', async () => {
    await asBen();
    expect(await inAccount(ann, () => write(({ client }) => listWith(client)))).toEqual([ann]);
    expect(await asBen()).toEqual([ben]);
    expect(await write(({ client }) => listWith(client))).toEqual([]);
  });

  it('leaves nobody behind, when it is taken back', async () => {
    const failed = inAccount(ben, () =>
      write(async ({ client }) => {
        await client.query("UPDATE workbooks SET title = 'taken back'");
        throw new Error('on purpose');
      }),
    );
    await expect(failed).rejects.toThrow('on purpose');
    expect(await listAccounts()).toEqual([]);
    expect(await asAnn()).toEqual([ann]);
    expect((await acrossAccounts(() => db.pool.query("SELECT 1 FROM workbooks WHERE title = 'taken back'"))).rowCount).toBe(0);
  });

  it('may touch an account that it makes, to its end and no longer', async () => {
    const makeAccount = (id: string) =>
      write(async (tx) => {
        await tx.client.query('SAVEPOINT before');
        const insert = () =>
          tx.client.query("INSERT INTO accounts (id, owner_id, name, kind) VALUES ($1, $2, 'new', 'developer')", [id, `users_of_${ann}`]);
        await expect(insert()).rejects.toMatchObject({ code: '42501' });
        await tx.client.query('ROLLBACK TO before');
        await tx.admitAccount(id);
        await insert();
        return (await tx.client.query<{ id: string }>('SELECT id FROM accounts ORDER BY id')).rows.map((row) => row.id);
      });
    expect(await makeAccount('acc_NEW1')).toEqual(['acc_NEW1']);
    expect(await inAccount(ann, () => makeAccount('acc_NEW2'))).toEqual([ann, 'acc_NEW2']);
    const ids = async () => (await db.pool.query<{ id: string }>('SELECT id FROM accounts ORDER BY id')).rows.map((row) => row.id);
    expect([await ids(), await inAccount(ann, ids), await inAccount('acc_NEW1', ids)]).toEqual([[], [ann], ['acc_NEW1']]);
  });

  it('takes nothing but ids of accounts', () => {
    for (const odd of ['*', 'acc_1,acc_2', "acc'; COMMIT; --", ''])
      expect(() => inAccount(odd, async () => {})).toThrow('no id of an account');
  });
});
