import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkingApi } from '../contract/world.ts';
import { ok, type Person, type TestApi } from '../setup/api.ts';
import { findChromium, openBrowser } from '../setup/browser.ts';
import { makeWorkspace } from '../setup/credentials.ts';
import { audience, clientId, startIssuer, type TestIssuer } from '../setup/issuer.ts';
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

// A page has many steps, and waits for each; on a busy machine they take their time.
describe.skipIf(chromium === null)('every page of the console', { timeout: 200_000 }, () => {
  let api: TestApi;
  let issuer: TestIssuer;
  let browser: Browser;
  let owner: Person;
  let viewer: Person;
  let axe: string;
  let team: string;
  let workbookId: string;
  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    issuer = await startIssuer();
    api = await startWorkingApi({
      SVC_RATE_LIMITS: 'off',
      TEMPORAL_UI_URL: 'https://temporal.example.com/',
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: audience,
      OIDC_CLIENT_ID: clientId,
    });
    browser = await openBrowser(chromium as string);
    [owner, viewer] = [await api.signUp('持ち主'), await api.signUp('閲覧者')];
    team = await makeWorkspace(owner.client, 'チーム');
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
    await issuer?.stop();
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

  it('tags a column, sets a policy, and shows what a role sees of it', async () => {
    const { page, context, complaints } = await start({}, owner);
    await open(page, inBook('governance'));
    const part = (title: string) => page.locator('section', { has: page.getByRole('heading', { name: title }) });
    const [tags, policies, seen] = [part('Tags on columns'), part('Policies'), part('See it as a role')];
    await tags.getByLabel('Column', { exact: true }).selectOption('給与');
    await tags.getByLabel('Tag', { exact: true }).fill('報酬');
    await tags.getByLabel('Tag', { exact: true }).press('Enter');
    // The raw table holds the same cells, so the tag is there, too.
    const tagged = tags.getByRole('row', { name: '報酬' });
    const inherited = tagged.filter({ hasText: '給与.給与' });
    await inherited.waitFor();
    expect(await tagged.count()).toBe(2);
    await policies.getByLabel('Tag', { exact: true }).fill('報酬');
    await policies.getByLabel('Role (* is every role)').fill('外部');
    await policies.getByLabel('Effect').selectOption('deny');
    await policies.getByRole('button', { name: 'Set the policy' }).click();
    await policies.getByRole('cell', { name: '外部' }).waitFor();
    await seen.getByLabel('Roles, separated by commas').fill('外部');
    await seen.getByRole('button', { name: 'See it' }).click();
    await seen.getByRole('row', { name: '給与 not there' }).waitFor();
    await seen.getByRole('row', { name: '備考 visible' }).waitFor();
    // Taken off the column alone: what inherited the tag keeps it, and the page says so.
    await tagged.filter({ hasNotText: '給与.給与' }).getByRole('button', { name: 'Take off' }).click();
    await page.getByText('1 other column keeps the tag 報酬').waitFor();
    await seen.getByRole('row', { name: '給与 visible' }).waitFor();
    expect(await tagged.count()).toBe(1);
    await tagged.getByRole('button', { name: 'Take off' }).click();
    await tags.getByText('No column has a tag yet.').waitFor();
    await policies.getByRole('button', { name: 'Take off' }).click();
    await policies.getByText('There is no policy yet').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('makes a token that is shown once and lets somebody in, a key, a webhook and a member', async () => {
    const { page, context, complaints } = await start({}, owner);
    page.on('dialog', (question) => void question.accept());
    await open(page, '/settings/tokens');
    await page.getByLabel('Name').fill('console walk');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token' });
    const token = (await dialog.locator('.secret').textContent()) ?? '';
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('cell', { name: 'console walk' }).waitFor();
    expect((await page.content()).includes(token)).toBe(false);

    await open(page, '/settings/keys');
    await page.getByLabel('Name').fill('walk key');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.locator('.secret', { hasText: 'svc_key_' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row', { name: 'walk key' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: 'walk key' }).getByText('revoked').waitFor();

    const received: string[] = [];
    const receiver = createServer((request, response) => {
      received.push(String(request.headers['webhook-id'] ?? request.url));
      response.end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    await open(page, '/settings/webhooks');
    const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in`;
    await page.getByLabel('Address').fill(address);
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByText(address).waitFor();
    await page.getByRole('button', { name: 'Deliveries' }).click();
    await page.getByText('Nothing was sent yet.').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('row', { name: 'delivered' }).waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await expect.poll(() => received.length).toBe(2);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is no webhook yet.').waitFor();
    receiver.close();

    // What was used and is left, what was done, and where else to look.
    await open(page, '/settings/usage');
    await page.getByRole('img', { name: 'Requests' }).waitFor();
    expect(await page.locator('figure.days').count()).toBe(4);
    await open(page, '/settings/billing');
    await page.getByText('free').first().waitFor();
    await open(page, '/settings/service');
    await page.getByRole('link', { name: 'Temporal' }).waitFor();
    await open(page, inBook('activity'));
    await page.getByText('The audit chain is whole.').waitFor();

    const colleague = await api.signUp('同僚');
    await open(page, '/settings/members');
    await page.locator('label', { hasText: 'Workspace' }).locator('select').selectOption('チーム');
    await page.getByLabel('Member', { exact: true }).fill(colleague.email);
    await page.getByRole('button', { name: 'Add a member' }).click();
    const row = page.getByRole('row', { name: colleague.email });
    await row.getByRole('textbox').fill('経理, 監査');
    await row.getByRole('textbox').blur();
    const readRoles = async () => {
      const params = { path: { workspace_id: team } };
      const { users } = ok(await owner.client.GET('/api/control/workspaces/{workspace_id}/users', { params }));
      const found = users.find(({ user }) => user.id === colleague.userId);
      return found && [found.role, ...found.roles];
    };
    await expect.poll(readRoles).toEqual(['editor', '経理', '監査']);
    await row.getByRole('combobox').selectOption('viewer');
    await expect.poll(readRoles).toEqual(['viewer', '経理', '監査']);
    await row.getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await readRoles()).toBeUndefined();
    expect(complaints).toEqual([]);
    await context.close();

    // The token in another browser: in memory only, so a reload forgets it.
    const other = await openTab(browser, api.url);
    await other.page.getByRole('button', { name: 'With a token' }).click();
    await other.page.locator('input[name=token]').fill(token);
    await other.page.getByRole('button', { name: 'Log in', exact: true }).click();
    await other.page.getByRole('link', { name: '人事' }).waitFor();
    const kept = await other.page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    expect(kept).not.toContain(token);
    expect(await other.context.cookies()).toEqual([]);
    expect(other.complaints).toEqual([]);
    await other.page.reload();
    await other.page.locator('input[name=email]').waitFor();
    await other.context.close();
  });

  it('makes a workbook, adds a column and a row to a table in it, renames it, and deletes it after it has asked', async () => {
    const { page, context, complaints } = await start({}, owner);
    await open(page, '/');
    await page.getByRole('button', { name: 'New workbook' }).click();
    await page.getByRole('dialog').getByLabel('Title').fill('下書き');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '下書き' }).waitFor();
    const { pathname } = new URL(page.url());
    const path = { workbook_id: pathname.split('/')[2] ?? '', name: '備品' };
    const columns = [{ name: '品名', type: 'VARCHAR' }];
    ok(await owner.client.POST('/api/v1/workbooks/{workbook_id}/tables', { params: { path }, body: { name: path.name, columns } }));
    await open(page, `${pathname}/tables/${encodeURIComponent(path.name)}`);
    await page.getByRole('button', { name: 'Add a column' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('購入日');
    await page.getByRole('dialog').getByLabel('Type').selectOption('DATE');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add a row' }).click();
    await page.getByText('1 row · Version 3').waitFor();
    const table = ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}', { params: { path } })) as {
      columns: { name: string; type: string }[];
    };
    expect(table.columns).toContainEqual(expect.objectContaining({ name: '購入日', type: 'DATE' }));
    await open(page, pathname);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('清書');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '清書' }).waitFor();
    const answers = [false, true];
    page.on('dialog', (question) => void (answers.shift() ? question.accept() : question.dismiss()));
    await page.getByRole('button', { name: 'Delete the workbook' }).click();
    await page.getByRole('button', { name: 'Delete the workbook' }).click();
    await page.getByRole('heading', { name: 'Workbooks' }).waitFor();
    await page.getByRole('link', { name: '人事' }).waitFor();
    expect(await page.getByRole('link', { name: '清書' }).count()).toBe(0);
    expect([answers, complaints]).toEqual([[], []]);
    await context.close();
  });

  it('logs in at the identity provider, and goes back to where somebody was', async () => {
    const { page, context, complaints } = await openTab(browser, `${api.url}/settings/service`);
    // The provider's page, which asks nothing.
    await page.route(`${issuer.url}/authorize*`, (route) => {
      const given = issuer.giveCode(route.request().url(), { email: 'console@corp.example', email_verified: true });
      return route.fulfill({ status: 302, headers: { Location: `${api.url}/log-in?${new URLSearchParams(given)}` } });
    });
    await page.getByRole('button', { name: 'Log in with your organisation' }).click();
    await page.locator('.facts').getByText('console@corp.example').first().waitFor();
    expect(page.url()).toBe(`${api.url}/settings/service`);
    // The session is in the cookie: a reload asks nobody.
    await page.reload();
    await page.locator('.facts').getByText('console@corp.example').first().waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

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
