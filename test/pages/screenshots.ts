import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect, take } from '../../demo/client.ts';
import { startService } from '../../demo/startService.ts';
import { tellStory } from '../../demo/story.ts';
import { projectDir } from '../../store/config.ts';
import { findChromium, openBrowser } from '../setup/browser.ts';
import { logIn, openTab } from './consoleTab.ts';
import { makeSampleSheet } from './sampleSheet.ts';

/**
 * `npm run screenshots`: every page of the console in both languages, light and dark, after the demo has made something to look at. They are
 * left in build/screenshots, or in the folder that is named.
 */
const folder = resolve(process.argv[2] ?? join(projectDir, 'build/screenshots'));
const chromium = findChromium();
if (chromium === null) throw new Error('Install chromium (apt-get install chromium), or set CHROMIUM to its path.');

const dataDir = await mkdtemp(join(tmpdir(), 'svc-screenshots-'));
const service = await startService(dataDir);
const browser = await openBrowser(chromium);
try {
  await tellStory(service, join(dataDir, 'demo'), () => {});
  const sheet = await uploadSheet();
  const person = { email: 'owner@localhost', password: (await readFile(join(dataDir, 'first-password'), 'utf8')).trim() };
  for (const [language, locale, dark] of [
    ['ja', 'ja-JP', false],
    ['en', 'en-US', true],
  ] as const) {
    await mkdir(join(folder, language), { recursive: true });
    const tab = await openTab(browser, service.url, { locale, dark });
    const { page } = tab;
    const keep = (name: string) => page.screenshot({ path: join(folder, language, `${name}.png`) });
    await page.locator('#health').waitFor();
    await keep('log-in');
    await logIn(tab, person);
    for (const [name, address] of await listPages(sheet)) {
      await page.goto(`${service.url}${address}`);
      await page.waitForLoadState('networkidle');
      if (name.startsWith('source')) await page.locator('.findings li').first().waitFor();
      if (name === 'source-finding') await page.locator('.finding').first().click();
      if (name.startsWith('ask')) {
        await page.locator('button.main').click();
        await page.locator('.result').waitFor();
      }
      // Canvases are drawn a moment later.
      await page.waitForTimeout(700);
      await keep(name);
      console.log(`${language}/${name}.png`);
    }
    await tab.context.close();
  }
} finally {
  await browser.close();
  await service.stop();
}
console.log(`The pictures are in ${folder}`);

/** A workbook without policies, whose files are shown. Returns the address of its sheet. */
async function uploadSheet(): Promise<string> {
  const { id } = take(await connect(service, () => {}).POST('/api/v1/workbooks', { body: { title: '2024年度 営業' } }));
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(await makeSampleSheet())]), '店別売上.xlsx');
  const headers = { authorization: `Bearer ${service.token}` };
  const { status } = await fetch(`${service.url}/api/v1/workbooks/${id}/sources`, { method: 'POST', headers, body: form });
  if (status !== 201) throw new Error(`the sheet was not taken: ${status}`);
  return ['', 'workbooks', id, 'sources', encodeURIComponent('店別売上.xlsx')].join('/');
}

/** Names and addresses. */
async function listPages(sheet: string): Promise<[string, string][]> {
  const client = connect(service, () => {});
  const { workbooks } = take(await client.GET('/api/v1/workbooks'));
  // Of the demo.
  const workbookId = workbooks.find(({ governed }) => governed)?.id ?? '';
  const params = { path: { workbook_id: workbookId } };
  const { tables } = take(await client.GET('/api/v1/workbooks/{workbook_id}/tables', { params }));
  const { sources } = take(await client.GET('/api/v1/workbooks/{workbook_id}/sources', { params }));
  const table = tables[0]?.name ?? '';
  const inBook = (...rest: string[]) => ['', 'workbooks', workbookId, ...rest.map(encodeURIComponent)].join('/');
  const column = tables[0]?.schema[0]?.name ?? '';
  const sql = encodeURIComponent(`SELECT * FROM "${table}" LIMIT 20`);
  return [
    ['workbooks', '/workbooks'],
    ['workbook', inBook()],
    ['table', inBook('tables', table)],
    ...['cell', 'profile', 'versions', 'lineage', 'changes'].map((panel): [string, string] => [
      `table-${panel}`,
      `${inBook('tables', table)}?panel=${panel}&row=1&column=${encodeURIComponent(column)}`,
    ]),
    ['source', sheet],
    ['source-finding', sheet],
    ['source-region', `${sheet}?region=r3`],
    ['source-governed', inBook('sources', sources[0]?.name ?? '')],
    ['ask', `${inBook('ask')}?sql=${sql}`],
    ['ask-chart', `${inBook('ask')}?sql=${sql}&as=chart`],
    ['round-trip', inBook('round-trip')],
    ['governance', `${inBook('governance')}?as-table=${encodeURIComponent(table)}`],
    ['activity', inBook('activity')],
    ...['tokens', 'keys', 'members', 'webhooks', 'usage', 'billing', 'service'].map((section): [string, string] => [
      `settings-${section}`,
      `/settings/${section}`,
    ]),
  ];
}
