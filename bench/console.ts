import { gzipSync } from 'node:zlib';
import exceljs from 'exceljs';
import type { Browser, Page } from 'playwright-core';
import { acrossAccounts } from '../store/pg/accountScope.ts';
import { logIn, openTab, type Tab } from '../test/pages/consoleTab.ts';
import { findChromium, openBrowser } from '../test/setup/browser.ts';
import { median, report } from './measure.ts';
import type { BenchRig } from './services.ts';
import { TableRig } from './tableRig.ts';

/** The console in Debian's chromium: what is loaded first, and how long people wait for what they do. */

const rounds = 5;
const largeRows = 1_000_000;
const regions = 200;

export async function benchConsole(rig: BenchRig): Promise<void> {
  const chromium = findChromium();
  if (chromium === null) return console.log('SKIPPED: there is no chromium (apt-get install chromium), nor one in CHROMIUM.');
  const browser = await openBrowser(chromium);
  try {
    // Tables are made below the requests, which would set the account.
    await acrossAccounts(() => benchAll(rig, browser));
  } finally {
    await browser.close();
  }
}

async function benchAll(rig: BenchRig, browser: Browser): Promise<void> {
  const tables = await TableRig.open(rig);
  await tables.makeTable('large', largeRows);
  const source = await uploadRegions(rig, tables);
  await measureShell(browser, rig.url);
  const tab = await openTab(browser, rig.url);
  await tab.page.addInitScript(watch);
  await logIn(tab, rig.owner);
  await measureFirstPage(tab, rig.url);
  const inBook = `${rig.url}/workbooks/${tables.workbook.id}`;
  await measureGrid(tab, `${inBook}/tables/large`);
  await measureSheet(tab, `${inBook}/sources/${encodeURIComponent(source)}`);
  if (tab.complaints.length > 0) console.log('the browser complained:', tab.complaints);
}

/** Runs in the page before its own scripts: notes long tasks, and when a text that is typed can be seen. */
const watch = `
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: 'longtask', buffered: true });
  window.echoes = [];
  let typed = 0;
  addEventListener('keydown', ({ key, timeStamp }) => {
    if (key.length !== 1) return;
    typed += 1;
    const wanted = typed;
    const look = () => {
      const editor = document.querySelector('#portal textarea');
      if (editor && editor.value.length >= wanted) window.echoes.push(performance.now() - timeStamp);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, true);
`;

/** What somebody loads who opens the address for the first time, as it would be with the usual compression. */
async function measureShell(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  page.on('response', (answer) => {
    if (/\.(js|css)$/.test(new URL(answer.url()).pathname)) sizes.push(answer.body().then((body) => gzipSync(body).byteLength));
  });
  await page.goto(url);
  await page.locator('#health').waitFor();
  const bytes = (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
  report('the shell, compressed', `${(bytes / 1000).toFixed(0)} kB`, 'at most 250 kB', bytes <= 250_000);
  await context.close();
}

async function measureFirstPage({ page, context }: Tab, url: string): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  const ms: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await page.goto(`${url}/workbooks`);
    await page.locator('main table.list a').first().waitFor();
    if (round > 0) ms.push(await now(page));
  }
  await devtools.detach();
  reportMs('the first page, with nothing kept', median(ms), 1500);
}

async function measureGrid({ page }: Tab, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('.grid #glide-cell-1-0').waitFor({ state: 'attached' });
  const box = await page.locator('.grid canvas').first().boundingBox();
  if (!box) throw new Error('there is no grid');
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.evaluate('window.longest = 0');
  for (let i = 0; i < 80; i += 1) await page.mouse.wheel(0, 1_500);
  // Far away, as by the scroll bar.
  for (const share of [0.2, 0.9, 0.5, 0.7, 0.1]) await scrollTo(page, share);
  await page.waitForLoadState('networkidle');
  // The last place is filled by now.
  await page
    .locator(`.grid [id^="glide-cell-1-"]`)
    .filter({ hasText: /^7\d{5}$/ })
    .first()
    .waitFor({ state: 'attached' });
  const longest = (await page.evaluate('window.longest')) as number;
  // The browser tells of tasks from 50 ms on.
  report(
    'the longest task while 1,000,000 rows are scrolled',
    longest ? `${longest.toFixed(0)} ms` : '< 50 ms',
    'at most 100 ms',
    longest <= 100,
  );
  await scrollTo(page, 0);
  await page.locator('.grid #glide-cell-2-0').filter({ hasText: /./ }).waitFor({ state: 'attached' });
  await page.mouse.click(box.x + 56 + 130, box.y + 32 + 14);
  await page.evaluate('window.echoes.length = 0');
  const letters = 'some words';
  // As quickly as people type.
  for (const letter of letters) await page.keyboard.type(letter, { delay: 60 });
  // The policy of the page lets nothing wait inside it.
  let echoes: number[] = [];
  while (echoes.length < letters.length) echoes = (await page.evaluate('window.echoes')) as number[];
  reportMs('the first letter in a cell, which opens it', echoes[0] ?? Number.NaN, 50);
  reportMs('each further letter', Math.max(...echoes.slice(1)), 50);
  await page.keyboard.press('Escape');
}

async function scrollTo(page: Page, share: number): Promise<void> {
  await page.evaluate(`(() => {
    const scroller = document.querySelector('.dvn-scroller');
    scroller.scrollTop = scroller.scrollHeight * ${share};
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  })()`);
}

async function measureSheet({ page }: Tab, address: string): Promise<void> {
  const ms: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await page.goto(address);
    await page
      .locator('.region-list li')
      .nth(regions - 1)
      .waitFor();
    await page.locator('.sheet canvas').first().waitFor();
    // Until what was asked of the canvas is drawn.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    if (round > 0) ms.push(await now(page));
  }
  reportMs(`a sheet with ${regions} regions`, median(ms), 1000);
}

/** Since the page was asked for. */
const now = async (page: Page) => (await page.evaluate('performance.now()')) as number;

const reportMs = (what: string, ms: number, most: number) => report(what, `${ms.toFixed(0)} ms`, `at most ${most} ms`, ms <= most);

/** A sheet with many small tables, ten side by side. So many stay raw until somebody takes them; the spec has them all. */
async function uploadRegions(rig: BenchRig, { base }: TableRig): Promise<string> {
  const book = new exceljs.Workbook();
  const sheet = book.addWorksheet('集計');
  for (let region = 0; region < regions; region += 1) {
    const [top, left] = [Math.floor(region / 10) * 9 + 1, (region % 10) * 5 + 1];
    sheet.getCell(top, left).value = `表${region + 1}`;
    for (const [i, head] of ['店', '数量', '金額'].entries()) sheet.getCell(top + 1, left + i).value = head;
    for (let row = 0; row < 5; row += 1) {
      sheet.getCell(top + 2 + row, left).value = `店${region}-${row}`;
      sheet.getCell(top + 2 + row, left + 1).value = region + row;
      sheet.getCell(top + 2 + row, left + 2).value = (region + row) * 1000;
    }
  }
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(await book.xlsx.writeBuffer())]), '集計.xlsx');
  const send = async <T>(path: string, body?: FormData): Promise<T> => {
    const answer = await fetch(`${rig.url}${path}`, { method: 'POST', headers: { authorization: `Bearer ${rig.token}` }, body });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  };
  const { source } = await send<{ source: { name: string } }>(`${base}/sources`, form);
  const spec = await send<{ regions: unknown[] }>(`${base}/sources/${encodeURIComponent(source.name)}/analyze`);
  if (spec.regions.length < regions) throw new Error(`the sheet has ${spec.regions.length} regions`);
  return source.name;
}
