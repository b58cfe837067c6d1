import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { autoTopup, packs } from '../../core/credits/priceList.ts';
import { type ApiClient, ok, type Person, refused, startTestApi, type TestApi } from '../setup/api.ts';
import { makeAccount, mintKey } from '../setup/credentials.ts';

const base = '/api/control/account/billing' as const;

let api: TestApi;
let owner: Person;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
});
afterAll(() => api.stop());

const read = async (client: ApiClient, accountId?: string) =>
  ok(await client.GET(base, { params: { query: accountId === undefined ? {} : { account_id: accountId } } }));

/** What a person does in a browser on a page of the service. */
async function press(url: string, action: string) {
  const answer = await fetch(url.replace(/^https?:\/\/[^/]+/, api.url), {
    method: 'POST',
    body: new URLSearchParams({ action }),
    redirect: 'manual',
  });
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
}
const open = async (url: string, language = 'en') => {
  const answer = await fetch(url.replace(/^https?:\/\/[^/]+/, api.url), { headers: { 'Accept-Language': language } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

const subscribe = async (client: ApiClient, plan: 'solo' | 'pro', more: object = {}) =>
  ok(await client.POST(`${base}/checkout`, { body: { plan, interval: 'monthly', ...more } }));

describe('an account that never paid', () => {
  it('has the free plan, the calendar month, no card, and the settings of the price list', async () => {
    owner = await api.signUp();
    const billing = await read(owner.client);
    expect(billing).toMatchObject({
      plan: 'free',
      plan_status: 'none',
      interval: null,
      provider: 'ledger',
      credits: { included: 200, purchased: 0, used: 0, remaining: 200 },
      auto_topup: { enabled: false, amount: 5000, threshold: 1000 },
      overage: { arrears: 0, current: 0 },
      card: null,
      shares_card_with: null,
    });
    expect(billing.period_start.slice(8)).toBe('01T00:00:00.000Z');
    expect(new Date(billing.period_end).getUTCDate()).toBe(1);
  });

  it('is seen and changed by its owner alone', async () => {
    const stranger = await api.signUp();
    const id = (await read(owner.client)).account_id;
    refused(await stranger.client.GET(base, { params: { query: { account_id: id } } }), 404, 'not-found');
    refused(await stranger.client.POST(`${base}/topup`, { body: { pack: 'small', account_id: id } }), 404, 'not-found');
    const reader = await mintKey(owner.client, { scopes: ['account:read'] });
    expect((await read(api.as(reader.text))).account_id).toBe(id);
    refused(await api.as(reader.text).POST(`${base}/topup`, { body: { pack: 'small' } }), 403, 'missing-scope');
  });
});

describe('a subscription', () => {
  it('begins when the page is confirmed, with its credits at once, and only then', async () => {
    const person = await api.signUp();
    const urls = { success_url: 'https://shop.example/thanks?x=1', cancel_url: 'https://shop.example/back' };
    const first = await subscribe(person.client, 'solo', urls);
    expect(first.checkout_url).toContain(first.session_id);
    const page = await open(first.checkout_url, 'ja,en;q=0.5');
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page.text).toContain('お支払い');
    expect(page.text).toContain('¥2,980');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' https://shop.example;");
    expect((await read(person.client)).plan).toBe('free');

    expect(await press(first.checkout_url, 'cancel')).toMatchObject({ status: 303, location: urls.cancel_url });
    expect(await press(first.checkout_url, 'confirm')).toMatchObject({ status: 409 });
    expect((await read(person.client)).plan).toBe('free');

    const second = await subscribe(person.client, 'solo', urls);
    expect(await press(second.checkout_url, 'confirm')).toMatchObject({ status: 303, location: urls.success_url });
    const billing = await read(person.client);
    expect(billing).toMatchObject({
      plan: 'solo',
      plan_status: 'active',
      interval: 'monthly',
      credits: { included: 3000, remaining: 3000 },
      card: { brand: 'ledger', last4: '0000' },
    });
    expect(Date.parse(billing.period_end) - Date.parse(billing.period_start)).toBeGreaterThan(27 * 86_400_000);
    refused(await person.client.POST(`${base}/checkout`, { body: { plan: 'pro', interval: 'annual' } }), 409, 'subscription-active');
    refused(await person.client.POST(`${base}/payg`, { body: {} }), 409, 'subscription-active');
    expect(ok(await person.client.GET('/api/v1/me')).plan).toBe('solo');
  });

  it('says itself how it went where no address to lead to was given', async () => {
    const person = await api.signUp();
    const { checkout_url } = await subscribe(person.client, 'pro');
    const done = await press(checkout_url, 'confirm');
    expect(done.status).toBe(200);
    expect(done.text).toContain('Done');
    expect((await read(person.client)).credits.included).toBe(15_000);
  });

  it('is cancelled in the portal: the plan stays, and the account is free to subscribe again', async () => {
    const person = await api.signUp();
    await press((await subscribe(person.client, 'solo')).checkout_url, 'confirm');
    const { portal_url } = ok(await person.client.POST(`${base}/portal`, { body: { return_url: 'https://shop.example/' } }));
    expect((await open(portal_url)).text).toContain('Cancel the subscription');
    expect((await press(portal_url, 'cancel_subscription')).text).toContain('canceled');
    expect(await read(person.client)).toMatchObject({ plan: 'solo', plan_status: 'canceled' });
    // Credits are granted once a month, however often somebody comes back.
    await press((await subscribe(person.client, 'solo')).checkout_url, 'confirm');
    expect(await read(person.client)).toMatchObject({ plan_status: 'active', credits: { included: 3000 } });
    expect(await press(portal_url, 'return')).toMatchObject({ status: 303, location: 'https://shop.example/' });
  });
});

describe('pay-as-you-go', () => {
  it('begins with a card, charges nothing, and switches auto-recharge on; without the card it ends', async () => {
    const person = await api.signUp();
    const { checkout_url } = ok(await person.client.POST(`${base}/payg`, { body: {} }));
    expect((await open(checkout_url)).text).toContain('¥0');
    await press(checkout_url, 'confirm');
    expect(await read(person.client)).toMatchObject({
      plan: 'payg',
      plan_status: 'none',
      auto_topup: { enabled: true },
      credits: { included: 200 },
    });
    const { rows } = await api.sql.query('SELECT 1 FROM payments p JOIN accounts a ON a.id = p.account_id WHERE a.owner_id = $1', [
      person.userId,
    ]);
    expect(rows).toEqual([]);
    const { portal_url } = ok(await person.client.POST(`${base}/portal`, { body: {} }));
    await press(portal_url, 'remove_card');
    expect(await read(person.client)).toMatchObject({ plan: 'free', card: null, auto_topup: { enabled: false } });
  });

  it('is shared with a developer account, whose key may use the card but not see its account', async () => {
    const person = await api.signUp();
    const developer = await makeAccount(person.client, 'Robots');
    const share = () => person.client.POST(`${base}/reuse-card`, { body: { account_id: developer } });
    const own = (await read(person.client)).account_id;
    expect(ok(await share())).toMatchObject({ plan: 'free', shares_card_with: own, card: null });
    await press(ok(await person.client.POST(`${base}/payg`, { body: {} })).checkout_url, 'confirm');
    expect(ok(await share())).toMatchObject({
      plan: 'payg',
      shares_card_with: own,
      auto_topup: { enabled: true },
      card: { last4: '0000' },
    });
    const key = await mintKey(person.client, { account_id: developer, scopes: ['account:read', 'billing:manage'] });
    const bought = ok(await api.as(key.text).POST(`${base}/topup`, { body: { pack: 'small' } }));
    expect(bought).toMatchObject({ status: 'paid', credits_added: 1000, credits: { purchased: 1000, remaining: 1000 } });
    refused(await api.as(key.text).GET(base, { params: { query: { account_id: own } } }), 404, 'not-found');
    refused(await person.client.POST(`${base}/reuse-card`, { body: { account_id: own } }), 409, 'default-account');
    // Without the card nobody has it any more; with another one it is asked for again.
    await press(ok(await person.client.POST(`${base}/portal`, { body: {} })).portal_url, 'remove_card');
    const without = { plan: 'free', card: null, shares_card_with: own, auto_topup: { enabled: false } };
    expect(await read(person.client, developer)).toMatchObject(without);
    await press(ok(await person.client.POST(`${base}/payg`, { body: {} })).checkout_url, 'confirm');
    expect(await read(person.client, developer)).toMatchObject({ ...without, card: { last4: '0000' } });
    expect(ok(await share())).toMatchObject({ plan: 'payg', auto_topup: { enabled: true } });
  });
});

describe('a pack of credits', () => {
  it('is paid on a page without a card, at once with one, and never twice for one request', async () => {
    const person = await api.signUp();
    const buy = (key?: string) =>
      person.client.POST(`${base}/topup`, {
        body: { pack: 'medium' },
        ...(key === undefined ? {} : { params: { header: { 'Idempotency-Key': key } } }),
      });
    const page = ok(await buy());
    expect(page).toMatchObject({ status: 'checkout', credits_added: 0, credits: { purchased: 0 } });
    await press(page.checkout_url as string, 'confirm');
    expect((await read(person.client)).credits).toEqual({ included: 200, purchased: 5000, used: 0, remaining: 5200 });

    await press(ok(await person.client.POST(`${base}/payg`, { body: {} })).checkout_url, 'confirm');
    const first = ok(await buy('once'));
    expect(first).toMatchObject({ status: 'paid', credits_added: packs.medium.credits, credits: { purchased: 10_000 } });
    expect(ok(await buy('once'))).toEqual(first);
    await Promise.all(Array.from({ length: 8 }, () => buy('again')));
    expect((await read(person.client)).credits.purchased).toBe(15_000);
    // Another credential asks for something else, also under the same key.
    const other = await mintKey(person.client, { scopes: ['account:read', 'billing:manage'] });
    const bought = ok(
      await api.as(other.text).POST(`${base}/topup`, { body: { pack: 'small' }, params: { header: { 'Idempotency-Key': 'once' } } }),
    );
    expect(bought).toMatchObject({ status: 'paid', credits_added: 1000, credits: { purchased: 16_000 } });
    const { rows } = await api.sql.query('SELECT sum(credits)::int AS paid FROM payments WHERE account_id = $1', [
      (await read(person.client)).account_id,
    ]);
    expect(rows).toEqual([{ paid: 16_000 }]);
  });

  it('of a page is bought once, however often the button is pressed at a time', async () => {
    const person = await api.signUp();
    const { checkout_url } = ok(await person.client.POST(`${base}/topup`, { body: { pack: 'large' } }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => press(checkout_url as string, 'confirm')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    expect((await read(person.client)).credits.purchased).toBe(20_000);
  });
});

describe('auto-recharge', () => {
  it('is configured, and goes back to its defaults', async () => {
    const person = await api.signUp();
    const set = async (body: { enabled: boolean; amount?: number; threshold?: number }) =>
      ok(await person.client.PATCH(`${base}/auto-topup`, { body })).auto_topup;
    expect(await set({ enabled: true, amount: 2000, threshold: 10 })).toEqual({ enabled: true, amount: 2000, threshold: 10 });
    expect(await set({ enabled: false })).toEqual({ enabled: false, amount: 5000, threshold: 1000 });
    expect((await read(person.client)).auto_topup).toEqual({ enabled: false, amount: 5000, threshold: 1000 });
  });

  it('of so little that no card pays it is refused', async () => {
    const person = await api.signUp();
    const set = (amount: number) => person.client.PATCH(`${base}/auto-topup`, { body: { enabled: true, amount } });
    const { leastAmount } = autoTopup;
    const refusal = refused(await set(leastAmount - 1), 422, 'validation-failed');
    expect(refusal.errors).toMatchObject([{ pointer: '/amount', detail: expect.stringContaining(String(leastAmount)) }]);
    expect(ok(await set(leastAmount)).auto_topup.amount).toBe(leastAmount);
  });

  it('needs one connection to the database, and so do the pages', async () => {
    const person = await api.signUp();
    const developer = await makeAccount(person.client, 'Robots');
    await press(ok(await person.client.POST(`${base}/payg`, { body: {} })).checkout_url, 'confirm');
    const { portal_url } = ok(await person.client.POST(`${base}/portal`, { body: {} }));
    const { pool } = api.services.db;
    const taken = await Promise.all(Array.from({ length: (pool.options.max ?? 0) - 1 }, () => pool.connect()));
    try {
      ok(await person.client.PATCH(`${base}/auto-topup`, { body: { enabled: true } }));
      ok(await person.client.POST(`${base}/reuse-card`, { body: { account_id: developer } }));
      expect((await press(portal_url, 'remove_card')).status).toBe(200);
    } finally {
      for (const client of taken) client.release();
    }
  });
});
