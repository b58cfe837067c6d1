import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { findChromium, openBrowser } from '../setup/browser.ts';

/** The pages in a real browser, as people use them. */

const chromium = findChromium();
if (chromium === null)
  console.warn('SKIPPED: the pages were not tried in a browser. Install chromium (apt-get install chromium) or set CHROMIUM to its path.');

describe.skipIf(chromium === null)('in a browser', () => {
  let api: TestApi;
  let person: Person;
  let browser: Browser;
  beforeAll(async () => {
    api = await startTestApi({ SVC_RATE_LIMITS: 'off', TEMPORAL_UI_URL: 'http://127.0.0.1:8233' });
    person = await api.signUp();
    browser = await openBrowser(chromium as string);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  /** A tab that notes what the browser complains about: scripts that fail, and what the page's own policy forbids. */
  async function openTab(address: string): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage();
    page.setDefaultTimeout(50_000);
    const complaints: string[] = [];
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${api.url}${address}`);
    return { page, complaints };
  }

  async function authorize(page: Page): Promise<void> {
    await page.locator('.auth-wrapper .authorize').click();
    const first = page.locator('.modal-ux .auth-container').first();
    expect(await page.locator('.modal-ux .auth-container', { hasText: 'Bearer' }).count()).toBe(1);
    expect(await first.textContent()).toContain('bearer');
    await first.locator('input').fill(person.session);
    await first.locator('button', { hasText: 'Authorize' }).click();
    await page.locator('.modal-ux .btn-done').first().click();
  }

  /** Presses the button of an operation and returns what was sent and what came back. */
  async function execute(page: Page, operation: string) {
    const answering = page.waitForResponse((answer) => answer.url().startsWith(`${api.url}/api/`));
    await page.locator(`${operation} .execute`).click();
    const answer = await answering;
    const shown = page.locator(`${operation} .live-responses-table .response-col_status`);
    await shown
      .filter({ hasText: String(answer.status()) })
      .first()
      .waitFor();
    return { status: answer.status(), body: (await answer.json()) as Record<string, unknown>, sent: answer.request() };
  }

  it('the reference page makes two workbooks with one token, in the first and only box for it', async () => {
    const { page, complaints } = await openTab('/docs#/Workbooks/createWorkbook');
    await authorize(page);
    const operation = '#operations-Workbooks-createWorkbook';
    const made = [await execute(page, operation), await execute(page, operation)];
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    expect(made[0]?.body.id).not.toBe(made[1]?.body.id);
    expect(made[0]?.sent.headers()['idempotency-key']).toBeUndefined();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('a link to runQuery opens it, with its parameters, and it runs', async () => {
    const workbook = ok(await person.client.POST('/api/v1/workbooks', { body: { title: 'Read' } }));
    const { page, complaints } = await openTab('/docs#/Query/runQuery');
    await authorize(page);
    const operation = '#operations-Query-runQuery';
    await page.locator(`${operation} tr[data-param-name="workbook_id"] input`).fill(workbook.id);
    await page.locator(`${operation} textarea.body-param__text`).fill('{"sql": "SELECT 6 * 7 AS answer"}');
    const { status, body } = await execute(page, operation);
    expect([status, body.rows]).toEqual([200, [{ answer: 42 }]]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('reading rows sends nothing that was not filled in', async () => {
    const workbook = ok(await person.client.POST('/api/v1/workbooks', { body: { title: 'Rows' } }));
    const params = { path: { workbook_id: workbook.id } };
    ok(await person.client.POST('/api/v1/workbooks/{workbook_id}/tables', { params, body: { name: 't', columns: [{ name: 'a' }] } }));
    const { page } = await openTab('/docs#/Rows/readRows');
    await authorize(page);
    const operation = '#operations-Rows-readRows';
    await page.locator(`${operation} tr[data-param-name="workbook_id"] input`).fill(workbook.id);
    await page.locator(`${operation} tr[data-param-name="name"] input`).fill('t');
    const { status, sent } = await execute(page, operation);
    expect([status, [...new URL(sent.url()).searchParams.keys()].filter((name) => name !== 'limit')]).toEqual([200, []]);
    await page.close();
  });

  describe('the payment pages', () => {
    const base = '/api/control/account/billing' as const;
    const readBilling = async ({ client }: Person) => ok(await client.GET(base));
    /** Opens a page of the service at the address where this test runs it. */
    const openPayment = (url: string) => openTab(new URL(url).pathname);
    const press = async (page: Page, label: string, title: string) => {
      await page.locator('button', { hasText: label }).click();
      await page.locator('h1', { hasText: title }).waitFor();
    };

    it('sell a subscription, which the portal cancels', async () => {
      const buyer = await api.signUp();
      const body = { plan: 'solo', interval: 'annual', success_url: `${api.url}/guide`, cancel_url: `${api.url}/docs` } as const;
      const { page, complaints } = await openPayment(ok(await buyer.client.POST(`${base}/checkout`, { body })).checkout_url);
      expect(await page.locator('body').textContent()).toContain('¥29,800');
      await page.locator('button', { hasText: 'Pay' }).click();
      await page.waitForURL(`${api.url}/guide`);
      expect(await readBilling(buyer)).toMatchObject({ plan: 'solo', plan_status: 'active', credits: { remaining: 3000 } });
      const portal = await openPayment(
        ok(await buyer.client.POST(`${base}/portal`, { body: { return_url: `${api.url}/guide` } })).portal_url,
      );
      await portal.page.locator('button', { hasText: 'Cancel the subscription' }).click();
      await portal.page.locator('dl', { hasText: 'canceled' }).waitFor();
      expect(await readBilling(buyer)).toMatchObject({ plan: 'solo', plan_status: 'canceled' });
      await portal.page.locator('button', { hasText: 'Back' }).click();
      await portal.page.waitForURL(`${api.url}/guide`);
      expect([complaints, portal.complaints]).toEqual([[], []]);
      await Promise.all([page.close(), portal.page.close()]);
    });

    it('save a card, and change nothing where that is cancelled', async () => {
      const buyer = await api.signUp();
      const enable = async () => ok(await buyer.client.POST(`${base}/payg`, { body: {} })).checkout_url;
      const left = await openPayment(await enable());
      await press(left.page, 'Cancel', 'Nothing was changed');
      expect(await readBilling(buyer)).toMatchObject({ plan: 'free', card: null });
      for (const [label, last4] of [
        ['Save a card that is declined', '0002'],
        ['Save the card', '0000'],
      ] as const) {
        const { page, complaints } = await openPayment(await enable());
        await press(page, label, 'Done');
        expect(await readBilling(buyer)).toMatchObject({ plan: 'payg', card: { last4 }, auto_topup: { enabled: true } });
        expect(complaints).toEqual([]);
        await page.close();
      }
      await left.page.close();
    });

    it('sell a pack', async () => {
      const buyer = await api.signUp();
      const { checkout_url } = ok(await buyer.client.POST(`${base}/topup`, { body: { pack: 'small' } }));
      const { page, complaints } = await openPayment(checkout_url as string);
      await press(page, 'Pay', 'Done');
      expect((await readBilling(buyer)).credits).toMatchObject({ purchased: 1000, remaining: 1200 });
      expect(complaints).toEqual([]);
      await page.close();
    });
  });

  it('a problem is a page that a person can read', async () => {
    const { page } = await openTab('/api/v1/me');
    expect(await page.locator('h1').textContent()).toBe('Not authenticated');
    const { detail, suggested_fix: fix } = (await (await api.fetch('/api/v1/me')).json()) as Record<string, string>;
    expect(await page.locator('p').allTextContents()).toEqual([detail, fix]);
    await page.close();
  });
});
