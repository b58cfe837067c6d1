import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { applyCard } from '../../activities/billing/applyPayment.ts';
import { configureAutoTopup } from '../../activities/billing/configureAutoTopup.ts';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { settleCredits } from '../../activities/credits/settleCredits.ts';
import { ledgerCustomer } from '../../store/billing/ledger.ts';
import { type Actor, commit, type Tx } from '../../store/pg/commit.ts';
import { makeId, type Services } from '../../store/services.ts';
import { openAccount } from '../credits/openAccount.ts';
import { readCredits } from '../credits/readCredits.ts';
import { type IngestWorld, makeNewFile, openWorld } from '../ingest/world.ts';
import { ok } from '../setup/api.ts';
import { waitForSchedule } from '../setup/schedules.ts';
import { keepHistory, replayHistory } from './replay.ts';

let world: IngestWorld;
let services: Services;
beforeAll(async () => {
  world = await openWorld();
  ({ services } = world.api);
});
afterAll(() => world.stop());

const actor: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };
const write = <T>(change: (tx: Tx) => Promise<T>): Promise<T> => commit(services, actor, change, async (result) => result);
const card = { brand: 'ledger', last4: '0000', expMonth: 1, expYear: 2040 };
const saveCard = (id: string) => write((tx) => applyCard(tx, id, { customerId: ledgerCustomer(id, 'pays'), card }));
const setTopup = (id: string, enabled: boolean) => write((tx) => configureAutoTopup(tx, id, { enabled, amount: null, threshold: null }));
const listPayments = async (id: string) =>
  (await world.api.sql.query('SELECT kind, amount, credits FROM payments WHERE account_id = $1', [id])).rows;
const waitForPayments = (id: string, expected: object[]) =>
  vi.waitFor(async () => expect(await listPayments(id)).toEqual(expected), { timeout: 120_000, interval: 100 });

async function run(workflow: 'settlePeriods' | 'rechargeCredits'): Promise<void> {
  const { client } = await services.temporal();
  const handle = await client.workflow.start(workflow, { workflowId: makeId('req'), taskQueue: services.config.temporal.taskQueue });
  await handle.result();
  await keepHistory(workflow, handle);
}

const topup = { kind: 'auto_topup', amount: 5500, credits: 5000 };

describe('what is due is charged', () => {
  it('when a file leaves too few credits', async () => {
    const { account_id: id } = ok(await world.owner.client.GET('/api/v1/me'));
    await saveCard(id);
    expect(await world.upload('在庫.xlsx', await makeNewFile())).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    await waitForPayments(id, [topup]);
    expect(await world.readCredits()).toEqual({ included: 200, purchased: 5000, used: 1, remaining: 5199 });
    const { client } = await services.temporal();
    const handle = client.workflow.getHandle(`pay-${id}`);
    await handle.result();
    await keepHistory('payCharges', handle);
  });

  it('at the end of a period, once, however often that is run', async () => {
    const id = await openAccount(services);
    await saveCard(id);
    await setTopup(id, false);
    const now = new Date();
    const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0));
    await write((tx) => reserveCredits({ ...tx, at: before }, { accountId: id, workbookId: null, jobId: 'a', amount: 800 }));
    await write((tx) => settleCredits({ ...tx, at: before }, 'a', id));
    await Promise.all([run('settlePeriods'), run('settlePeriods')]);
    const settled = [{ kind: 'settlement', amount: 720, credits: 600 }];
    await waitForPayments(id, settled);
    await run('settlePeriods');
    expect(await listPayments(id)).toEqual(settled);
  });

  it('although another account cannot be settled, of which is told at the end', async () => {
    const [broken, sound] = [await openAccount(services), await openAccount(services)];
    for (const id of [broken, sound]) {
      await saveCard(id);
      await setTopup(id, false);
    }
    await world.api.sql.query('UPDATE billing_profiles SET arrears = 600 WHERE account_id = $1', [sound]);
    await world.api.sql.query('UPDATE billing_profiles SET arrears = 2000000000 WHERE account_id = $1', [broken]);
    await expect(run('settlePeriods')).rejects.toMatchObject({ cause: { message: expect.stringContaining(broken) } });
    await waitForPayments(sound, [{ kind: 'settlement', amount: 720, credits: 600 }]);
    await world.api.sql.query('UPDATE billing_profiles SET arrears = 0 WHERE account_id = $1', [broken]);
  });

  it('when a recharge was missed', async () => {
    const id = await openAccount(services);
    await write((tx) => reserveCredits(tx, { accountId: id, workbookId: null, jobId: 'a', amount: 1 }));
    await saveCard(id);
    await run('rechargeCredits');
    await waitForPayments(id, [topup]);
    expect((await readCredits(services.db.pool, id)).remaining).toBe(5199);
  });
});

describe('by the clock', () => {
  it('periods are settled every day, recharges looked for every ten minutes', async () => {
    expect((await waitForSchedule(services, 'settle-periods')).spec.intervals).toMatchObject([{ every: 86_400_000, offset: 900_000 }]);
    const recharge = await waitForSchedule(services, 'recharge-credits');
    expect([recharge.spec.intervals, recharge.policies]).toMatchObject([[{ every: 600_000 }], { overlap: 'SKIP' }]);
  });

  it('runs that were recorded are replayed by the workflows as they are now', async () => {
    for (const name of ['payCharges', 'settlePeriods', 'rechargeCredits']) await replayHistory(name);
  });
});
