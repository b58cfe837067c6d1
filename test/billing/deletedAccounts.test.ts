import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeAccount } from '../../activities/accounts/removeAccount.ts';
import { revokeAccess } from '../../activities/accounts/revokeAccess.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import { ok, startTestApi } from '../setup/api.ts';
import { makeAccount } from '../setup/credentials.ts';
import { billingPath, deliver, type StripeApi, startStripeApi } from '../setup/stripeApi.ts';
import { openDeletions, quiet } from '../workflows/deletions.ts';

/** What becomes of payments for an account that is deleted. */

let started: StripeApi;
beforeAll(async () => {
  started = await startStripeApi();
});
afterAll(() => started.stop());

it('ends pages and subscriptions at Stripe, of this account alone, and leaves the customers', async () => {
  const { api, stripe } = started;
  const { account } = stripe;
  const { askFor } = openDeletions(api);
  const owner = await api.signUp();
  const { account_id: defaultId } = ok(await owner.client.GET('/api/v1/me'));
  const [gone, other] = [await makeAccount(owner.client, 'Gone'), await makeAccount(owner.client, 'Other')];
  const open = async (account_id: string, plan: 'solo' | 'pro') =>
    ok(await owner.client.POST(`${billingPath}/checkout`, { body: { account_id, plan, interval: 'monthly' } })).session_id;

  const paid = [await open(gone, 'solo'), await open(other, 'solo')].map((id) => {
    account.completeSession(id);
    return account.get(id);
  });
  const [ending, running] = paid.map(({ subscription }) => subscription as string) as [string, string];
  account.cancel(ending);
  await deliver(api, account.events);
  // The subscription is paid for until its period ends, so another one may be begun.
  const pages = [await open(gone, 'pro'), await open(defaultId, 'pro')] as const;
  // With the card of the default account, so the page is that customer's.
  const { customer } = account.get(pages[1]);
  await api.sql.query('UPDATE billing_profiles SET shares_with = $2 WHERE account_id = $1', [gone, defaultId]);
  const topup = ok(await owner.client.POST(`${billingPath}/topup`, { body: { account_id: gone, pack: 'small' } })).session_id as string;
  expect(account.get(topup).customer).toBe(customer);

  const { job_id } = ok(await askFor(owner, { accountId: gone, name: 'Gone' }));
  const run = (step: typeof revokeAccess | typeof removeAccount) =>
    inAccount<unknown>(defaultId, () => step(api.running.services, job_id, quiet));
  stripe.faults.push({ matches: /expire$/, fault: 500 }, { matches: /expire$/, fault: 500 });
  await expect(run(revokeAccess)).rejects.toThrow(/payment provider/);
  for (let times = 0; times < 2; times += 1) await run(revokeAccess);
  const statuses = () => [...pages, topup, ending, running].map((id) => account.get(id).status);
  expect(statuses()).toEqual(['expired', 'open', 'expired', 'canceled', 'active']);
  // One that was opened in the moment of the request.
  const { id: late, ...page } = account.get(pages[0]);
  const opened = account.make('cs_test', 'checkout.session', { ...page, status: 'open' });
  await run(removeAccount);
  expect([opened.id === late, opened.status, ...statuses()]).toEqual([
    false,
    'expired',
    'expired',
    'open',
    'expired',
    'canceled',
    'active',
  ]);
  for (const { customer: id } of paid) expect(account.get(id)).toMatchObject({ object: 'customer', metadata: expect.anything() });
  expect(stripe.asked.filter((name) => /^(DELETE|POST) \/v1\/customers\/./.test(name))).toEqual([]);

  // What Stripe still tells of it is taken, and changes nothing.
  account.completeSession(account.make('cs_test', 'checkout.session', { ...page, status: 'open' }).id);
  await deliver(api, account.events);
  expect((await api.sql.query('SELECT 1 FROM billing_profiles WHERE account_id = $1', [gone])).rowCount).toBe(0);
});

it('a page of the embedded provider says that its account is gone', async () => {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  try {
    const { askFor } = openDeletions(api);
    const owner = await api.signUp();
    const { account_id: defaultId } = ok(await owner.client.GET('/api/v1/me'));
    const gone = await makeAccount(owner.client, 'Gone');
    const page = ok(await owner.client.POST(`${billingPath}/payg`, { body: { account_id: gone } }));
    const { pathname } = new URL(page.checkout_url as string);
    const look = async () => {
      const shown = await api.fetch(pathname);
      const pressed = await api.fetch(pathname, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'action=confirm',
      });
      return { statuses: [shown.status, pressed.status], texts: [await shown.text(), await pressed.text()] };
    };
    const { job_id } = ok(await askFor(owner, { accountId: gone, name: 'Gone' }));
    const closed = await look();
    expect(closed.statuses).toEqual([404, 404]);
    for (const text of closed.texts) expect(text).toContain('was deleted');
    await inAccount(defaultId, () => revokeAccess(api.running.services, job_id, quiet));
    const removed = await look();
    expect(removed.statuses).toEqual([404, 404]);
    for (const text of removed.texts) expect(text).toContain('its account was deleted');
  } finally {
    await api.stop();
  }
});
