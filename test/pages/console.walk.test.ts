import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkingApi } from '../contract/world.ts';
import { ok, type Person, type TestApi } from '../setup/api.ts';
import { findChromium, openBrowser } from '../setup/browser.ts';
import { makeWorkspace } from '../setup/credentials.ts';
import { logIn, openTab, type Tab } from './consoleTab.ts';

/** Every page of the console: whether people can use it who cannot see it, and what it shows to who may not see all. */

const chromium = findChromium();
if (chromium === null)
  console.warn(
    'SKIPPED: the pages of the console were not walked. Install chromium (apt-get install chromium) or set CHROMIUM to its path.',
  );

const base = '/api/v1/workbooks/{workbook_id}' as const;
const canary = 'CANARY-9F3A77';
const panels = ['cell', 'profile', 'versions', 'lineage', 'changes'];
const settings = ['tokens', 'keys', 'members', 'webhooks', 'usage', 'billing', 'service'];

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

describe.skipIf(chromium === null)('every page of the console', () => {
  let api: TestApi;
  let browser: Browser;
  let owner: Person;
  let viewer: Person;
  let axe: string;
  let workbookId: string;
  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    api = await startWorkingApi({ SVC_RATE_LIMITS: 'off' });
    browser = await openBrowser(chromium as string);
    [owner, viewer] = [await api.signUp('持ち主'), await api.signUp('閲覧者')];
    const team = await makeWorkspace(owner.client, 'チーム');
    const body = { email: viewer.email, role: 'viewer' } as const;
    ok(await owner.client.POST('/api/control/workspaces/{workspace_id}/users', { params: { path: { workspace_id: team } }, body }));
    workbookId = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '人事', workspace_id: team } })).id;
    const form = new FormData();
    form.set('file', new File([`氏名,給与,備考\n山田,300000,${canary}\n田中,320000,${canary}\n`], '給与.csv'));
    const sent = await api.fetch(`/api/v1/workbooks/${workbookId}/sources`, { method: 'POST', body: form, token: owner.session });
    expect(sent.status).toBe(201);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  const inBook = (...rest: string[]) => ['', 'workbooks', workbookId, ...rest.map(encodeURIComponent)].join('/');
  const listPages = () => [
    '/workbooks',
    inBook(),
    inBook('tables', '給与'),
    ...panels.map((panel) => `${inBook('tables', '給与')}?panel=${panel}&row=1&column=${encodeURIComponent('備考')}`),
    `${inBook('ask')}?sql=${encodeURIComponent('SELECT * FROM 給与')}`,
    inBook('sources', '給与.csv'),
    inBook('round-trip'),
    `${inBook('governance')}?as-table=${encodeURIComponent('給与')}&as-roles=viewer`,
    inBook('activity'),
    ...settings.map((section) => `/settings/${section}`),
  ];

  async function open(page: Page, address: string): Promise<void> {
    await page.goto(`${api.url}${address}`);
    await page.locator('main h1, main h2').first().waitFor();
    // Until nothing is on its way any more.
    await page.waitForLoadState('networkidle');
  }

  async function findSerious(page: Page): Promise<string[]> {
    await page.evaluate(axe);
    const found = (await page.evaluate('axe.run(document).then(({ violations }) => violations)')) as Finding[];
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
  }

  async function start(options: Parameters<typeof openTab>[2], person: Person): Promise<Tab> {
    const tab = await openTab(browser, api.url, options);
    await logIn(tab, person);
    return tab;
  }

  it.each([
    ['in Japanese, light', { locale: 'ja-JP' }, 'ja', '設定'],
    ['in English, dark', { locale: 'en-US', dark: true }, 'en', 'Settings'],
  ])(
    'can be used by everybody, %s',
    async (_, options, language, word) => {
      const tab = await openTab(browser, api.url, options);
      await tab.page.locator('#health').waitFor();
      expect(await findSerious(tab.page)).toEqual([]);
      await logIn(tab, owner);
      expect(await tab.page.locator('html').getAttribute('lang')).toBe(language);
      await tab.page.getByRole('link', { name: word }).waitFor();
      const serious: Record<string, string[]> = {};
      for (const address of listPages()) {
        await open(tab.page, address);
        const found = await findSerious(tab.page);
        if (found.length > 0) serious[decodeURIComponent(address)] = found;
      }
      expect(serious).toEqual({});
      expect(tab.complaints).toEqual([]);
      await tab.context.close();
    },
    300_000,
  );

  it('shows nothing of a column that is masked, nor gets it', async () => {
    const path = { workbook_id: workbookId };
    const column = { ...path, name: '給与', column: '備考' };
    ok(await owner.client.POST(`${base}/artifacts/{name}/columns/{column}/tags`, { params: { path: column }, body: { tag: '個人' } }));
    const rule = { role: 'viewer', effect: 'mask' } as const;
    ok(await owner.client.PUT(`${base}/policies/{tag}`, { params: { path: { ...path, tag: '個人' } }, body: rule }));
    const { page, context } = await start({}, viewer);
    const got: string[] = [];
    let answers = 0;
    page.on('response', (answer) => {
      answers += 1;
      // A page that is left takes its answers with it.
      answer.text().then(
        (text) => text.includes(canary) && got.push(answer.url()),
        () => {},
      );
    });
    for (const address of listPages()) {
      await open(page, address);
      if (address.includes('/ask')) {
        await page.getByRole('button', { name: 'Run' }).click();
        await page.getByText('2 rows in').waitFor();
      }
      expect([address, (await page.content()).includes(canary)]).toEqual([address, false]);
    }
    expect(answers).toBeGreaterThan(50);
    expect(got).toEqual([]);
    // The walk can see it: the same page shows it to who may.
    const mine = await start({}, owner);
    await mine.page.goto(`${api.url}${inBook('tables', '給与')}`);
    await mine.page.locator('canvas td', { hasText: canary }).first().waitFor({ state: 'attached' });
    await Promise.all([context.close(), mine.context.close()]);
  }, 200_000);
});
