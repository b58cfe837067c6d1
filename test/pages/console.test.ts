import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkingApi } from '../contract/world.ts';
import type { Person, TestApi } from '../setup/api.ts';
import { findChromium, openBrowser } from '../setup/browser.ts';

/** The console in a real browser: from log-in to what people do with their tables. */

const chromium = findChromium();
if (chromium === null)
  console.warn('SKIPPED: the console was not tried in a browser. Install chromium (apt-get install chromium) or set CHROMIUM to its path.');

const sales = '店別売上\n(単位：千円)\n店,2024年4月,2024年5月,2024年6月\n東京,120,130,125\n大阪,90,95,88\n合計,210,225,213\n※速報値\n';

describe.skipIf(chromium === null)('the console', () => {
  let api: TestApi;
  let browser: Browser;
  let person: Person;
  beforeAll(async () => {
    api = await startWorkingApi({ SVC_RATE_LIMITS: 'off' });
    browser = await openBrowser(chromium as string);
    person = await api.signUp('佐藤 花子');
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  interface Tab {
    page: Page;
    context: BrowserContext;
    /** What the browser complained about: scripts that fail, and what the page's own policy forbids. */
    complaints: string[];
  }

  async function openTab(address: string, locale = 'en-US'): Promise<Tab> {
    const context = await browser.newContext({ locale, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(25_000);
    const complaints: string[] = [];
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${api.url}${address}`);
    return { page, context, complaints };
  }

  async function logIn({ page }: Tab, { email, password }: Person): Promise<void> {
    await page.locator('input[name=email]').fill(email);
    await page.locator('input[name=password]').fill(password);
    await page.locator('button[type=submit]').click();
    await page.locator('header.bar').waitFor();
  }

  /** Waits until a cell of the grid shows a text. The grid is a canvas, and tells of its cells to who cannot see it. */
  const cell = (page: Page, column: number, row: number, text: string) =>
    page
      .locator(`#glide-cell-${column + 1}-${row}`)
      .filter({ hasText: text })
      .waitFor({ state: 'attached' });

  /** Drops files with these texts. */
  async function dropFiles(page: Page, where: string, files: Record<string, string>): Promise<void> {
    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      for (const [name, text] of Object.entries(${JSON.stringify(files)})) transfer.items.add(new File([text], name));
      return transfer;
    })()`);
    await page.dispatchEvent(where, 'drop', { dataTransfer });
  }

  it('logs in, understands a file that is dropped, and shows its table', async () => {
    const tab = await openTab('/');
    const { page, context, complaints } = tab;
    await page.locator('#health').waitFor();
    await logIn(tab, person);
    await page.getByText('There is no workbook yet.').waitFor();
    await dropFiles(page, 'main', { '店別.csv': sales });
    await page.locator('.uploads').getByRole('link', { name: 'Open' }).click();
    await cell(page, 0, 0, '東京');
    expect(decodeURIComponent(page.url())).toContain('/tables/店別売上');
    // The session is nowhere that a script could read.
    expect(await page.evaluate("[document.cookie, JSON.stringify(localStorage).includes('eyJ')]")).toEqual(['', false]);
    await page.reload();
    await cell(page, 0, 0, '東京');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.locator('input[name=email]').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
