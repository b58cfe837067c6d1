import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import exceljs from 'exceljs';
import type { Page } from 'playwright-core';
import { connect, take } from '../../demo/client.ts';
import { startService } from '../../demo/startService.ts';
import { tellStory } from '../../demo/story.ts';
import { projectDir } from '../../store/config.ts';
import { findChromium, openBrowser } from '../setup/browser.ts';
import { clickAt, dropFiles, logIn, openTab } from './consoleTab.ts';
import { makeSampleSheet } from './sampleSheet.ts';

/**
 * `npm run screenshots`: every page of the console in both languages, light and dark, after the demo has made something to look at. They are
 * left in build/screenshots, or in the folder that is named.
 */
const folder = resolve(process.argv[2] ?? join(projectDir, 'build/screenshots'));
const chromium = findChromium();
if (chromium === null) throw new Error('Install chromium (apt-get install chromium), or set CHROMIUM to its path.');

/** The table of the sample sheet, named by its title. */
const salesTable = '2024年度 第1四半期 店別売上';

const dataDir = await mkdtemp(join(tmpdir(), 'svc-screenshots-'));
const service = await startService(dataDir);
const browser = await openBrowser(chromium);
try {
  await tellStory(service, join(dataDir, 'demo'), () => {});
  const sheets = await uploadSheets();
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
    for (const [name, address, act] of await listPages(sheets)) {
      await page.setViewportSize(name.endsWith('-small') ? { width: 1024, height: 640 } : { width: 1360, height: 820 });
      await page.goto(`${service.url}${address}`);
      await page.waitForLoadState('networkidle');
      await act?.(page);
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

interface Sheets {
  sheet: string;
  /** Of the same layout, sent after the first one was corrected. */
  learned: string;
  /** A workbook with nothing in it. */
  empty: string;
  /** A file that went out and came back with edits, of which one meets another. */
  returned: Buffer;
}

/** A workbook without policies, whose files are shown. Returns addresses. */
async function uploadSheets(): Promise<Sheets> {
  const client = connect(service, () => {});
  const make = async (title: string) => take(await client.POST('/api/v1/workbooks', { body: { title } })).id;
  const id = await make('2024年度 営業');
  const upload = async (name: string): Promise<string> => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(await makeSampleSheet(name))]), name);
    const headers = { authorization: `Bearer ${service.token}` };
    const { status } = await fetch(`${service.url}/api/v1/workbooks/${id}/sources`, { method: 'POST', headers, body: form });
    if (status !== 201) throw new Error(`the sheet was not taken: ${status}`);
    return ['', 'workbooks', id, 'sources', encodeURIComponent(name)].join('/');
  };
  const sheet = await upload('店別売上.xlsx');
  await upload('店別売上 直した.xlsx');
  const params = { path: { workbook_id: id, source_name: '店別売上 直した.xlsx' } };
  const spec = take(await client.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}/parse-spec', { params }));
  const regions = spec.regions.map((region) => ({
    ...region,
    columns: region.columns.map((column) => (column.name === '店' ? { ...column, name: '店舗' } : column)),
  }));
  take(await client.PUT('/api/v1/workbooks/{workbook_id}/sources/{source_name}/parse-spec', { params, body: { ...spec, regions } }));
  // It is remembered when tables are made of it.
  const made = regions.filter(({ kind }) => kind === 'data').map((region) => region.id);
  take(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', { params, body: { regions: made } }));
  const learned = await upload('店別売上 次.xlsx');
  return { sheet, learned, empty: `/workbooks/${await make('空のワークブック')}`, returned: await sendRound(id, salesTable) };
}

/** Exports a table, edits the file and a cell of the table. */
async function sendRound(workbookId: string, name: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ tables: [name], format: 'xlsx', record_branch: true });
  const exported = await fetch(`${service.url}/api/v1/workbooks/${workbookId}/export`, { method: 'POST', headers, body });
  const book = new exceljs.Workbook();
  await book.xlsx.load(await exported.arrayBuffer());
  const sheet = book.worksheets[0] as exceljs.Worksheet;
  const value = (sheet.getRow(1).values as string[]).indexOf('値');
  sheet.getRow(2).getCell(value).value = 12_500;
  sheet.getRow(5).getCell(value).value = 9_000;
  sheet.spliceRows(7, 1);
  const rows = [{ __svc_row_id: 1, 値: 12_450 }];
  const edit = JSON.stringify({ expected_version: null, rows });
  const edited = await fetch(`${service.url}/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent(name)}/rows`, {
    method: 'POST',
    headers,
    body: edit,
  });
  if (!exported.ok || !edited.ok) throw new Error(`the table did not go out: ${exported.status} ${edited.status}`);
  return Buffer.from(await book.xlsx.writeBuffer());
}

type Act = (page: Page) => Promise<unknown>;
function seeFindings(page: Page): Promise<void> {
  return page.locator('.findings li').first().waitFor();
}

async function run(page: Page): Promise<void> {
  await page.locator('button.main').click();
  await page.locator('.result').waitFor();
}

/** Names, addresses, and what is done there before the picture. */
async function listPages({ sheet, learned, empty, returned }: Sheets): Promise<[string, string, Act?][]> {
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
    ['workbook-empty', empty],
    ['no-such-page', '/workbooks/nothing/here'],
    ['search', '/workbooks', (page) => page.keyboard.type(`/${[...table].slice(0, 2).join('')}`, { delay: 50 })],
    ['table', inBook('tables', table)],
    ['table-small', `${inBook('tables', table)}?panel=profile`],
    ['table-diff', `${sheet.split('/sources')[0]}/tables/${encodeURIComponent(salesTable)}?panel=versions&from=1&to=2`],
    [
      'table-menu',
      inBook('tables', table),
      async (page) => {
        await clickAt(page, '.grid', 56 + 20, 32 + 14);
        await page.keyboard.press('Alt+ArrowDown');
      },
    ],
    ...['cell', 'profile', 'versions', 'lineage', 'changes'].map((panel): [string, string] => [
      `table-${panel}`,
      `${inBook('tables', table)}?panel=${panel}&row=1&column=${encodeURIComponent(column)}`,
    ]),
    ['source', sheet, seeFindings],
    ['source-small', sheet, seeFindings],
    [
      'source-finding',
      sheet,
      async (page) => {
        await seeFindings(page);
        await page.locator('.finding').first().click();
      },
    ],
    [
      'source-region',
      sheet,
      async (page) => {
        await seeFindings(page);
        await page.locator('.region.data, .region.report').first().click();
        await page.locator('.source-side summary').first().click();
      },
    ],
    ['source-learned', learned, seeFindings],
    ['source-governed', inBook('sources', sources[0]?.name ?? '')],
    ['ask', `${inBook('ask')}?sql=${sql}`, run],
    ['ask-chart', `${inBook('ask')}?sql=${sql}&as=chart`, run],
    [
      'ask-wrong',
      `${inBook('ask')}?sql=${encodeURIComponent('SELECT nothing FROM nowhere')}`,
      (page) => page.locator('button.main').click(),
    ],
    ['round-trip', inBook('round-trip')],
    [
      'round-trip-plan',
      `${sheet.split('/sources')[0]}/round-trip`,
      async (page) => {
        await dropFiles(page, '[data-drop=merge]', { '店別売上 戻り.xlsx': returned });
        await page.locator('.mark.failed').waitFor();
        await page.locator('[data-drop=merge]').scrollIntoViewIfNeeded();
      },
    ],
    ['governance', `${inBook('governance')}?as-table=${encodeURIComponent(table)}`],
    [
      'governance-review',
      `${sheet.split('/sources')[0]}/governance`,
      async (page) => {
        await page.locator('section:last-of-type > button').click();
        await page.locator('section:last-of-type li').first().waitFor();
      },
    ],
    ['activity', inBook('activity')],
    [
      'settings-token-made',
      '/settings/tokens',
      async (page) => {
        await page.locator('input[name=name]').fill('夜間バッチ');
        await page.locator('button.main').click();
        await page.locator('.secret').waitFor();
      },
    ],
    [
      'settings-webhook-refused',
      '/settings/webhooks',
      async (page) => {
        await page.locator('input[name=url]').fill('http://169.254.169.254/latest');
        await page.locator('button.main').click();
        await page.locator('.notice .problem').waitFor();
      },
    ],
    ...['tokens', 'keys', 'members', 'webhooks', 'usage', 'billing', 'service'].map((section): [string, string] => [
      `settings-${section}`,
      `/settings/${section}`,
    ]),
  ];
}
