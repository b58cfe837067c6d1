import exceljs from 'exceljs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkingApi } from '../contract/world.ts';
import { ok, type Person, type TestApi } from '../setup/api.ts';
import { findChromium, openBrowser } from '../setup/browser.ts';
import { makeWorkspace } from '../setup/credentials.ts';
import { chooseCell, clickAt, dropFiles, logIn, openTab, seeCell, type Tab, typeCell } from './consoleTab.ts';
import { makeSampleSheet } from './sampleSheet.ts';

/** The console in a real browser: from log-in to a merged conflict, by two people. */

const chromium = findChromium();
if (chromium === null)
  console.warn('SKIPPED: the console was not tried in a browser. Install chromium (apt-get install chromium) or set CHROMIUM to its path.');

const sales = Buffer.from(
  '店別売上\n(単位：千円)\n店,2024年4月,2024年5月,2024年6月\n東京,120,130,125\n大阪,90,95,88\n合計,210,225,213\n※速報値\n',
);
const base = '/api/v1/workbooks/{workbook_id}' as const;

// A page has many steps, and waits for each; on a busy machine they take their time.
describe.skipIf(chromium === null)('the console', { timeout: 200_000 }, () => {
  let api: TestApi;
  let browser: Browser;
  let owner: Person;
  let colleague: Person;
  let mine: Tab;
  let theirs: Tab;
  /** The workbook that both work on. */
  let workbookId: string;
  beforeAll(async () => {
    api = await startWorkingApi({ SVC_RATE_LIMITS: 'off' });
    browser = await openBrowser(chromium as string);
    owner = await api.signUp('佐藤 花子');
    colleague = await api.signUp('鈴木 一郎');
    const team = await makeWorkspace(owner.client, '経理');
    ok(
      await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
        params: { path: { workspace_id: team } },
        body: { email: colleague.email, role: 'editor' },
      }),
    );
    workbookId = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '2024年度', workspace_id: team } })).id;
    [mine, theirs] = await Promise.all([openTab(browser, api.url), openTab(browser, api.url)]);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  const tableAddress = (name: string) => `${api.url}/workbooks/${workbookId}/tables/${encodeURIComponent(name)}`;
  const readCells = async (name: string, column: string) => {
    const page = ok(await owner.client.GET(`${base}/tables/{name}/rows`, { params: { path: { workbook_id: workbookId, name } } }));
    return (page as { rows: Record<string, unknown>[] }).rows.map((row) => row[column]);
  };

  it('logs in, understands a file that is dropped, and shows its table', async () => {
    const { page } = mine;
    await page.locator('#health').waitFor();
    await logIn(mine, owner);
    await page.getByRole('link', { name: '2024年度' }).click();
    await page.getByText('This workbook is empty.').waitFor();
    await dropFiles(page, 'main', { '店別.csv': sales });
    await page.locator('.side').getByRole('link', { name: '店別売上', exact: false }).first().click();
    await seeCell(page, 0, 0, '東京');
    // The session is nowhere that a script could read.
    expect(await page.evaluate("[document.cookie, JSON.stringify(localStorage).includes('eyJ')]")).toEqual(['', false]);
    await page.reload();
    await seeCell(page, 0, 0, '東京');
  });

  it('says what is wrong with a file that is no spreadsheet', async () => {
    const { page } = mine;
    await dropFiles(page, 'main', { 'program.exe': Buffer.from('MZ\u0000\u0001 not a table') });
    await page.locator('.uploads .problem .fix').waitFor();
    await page.locator('.uploads').getByRole('button', { name: 'Clear the list' }).click();
    // The browser notes each refusal; this one was asked for.
    mine.complaints.length = 0;
  });

  it('saves what is typed, and takes it back', async () => {
    const { page } = mine;
    await typeCell(page, 3, 0, '135');
    await page.getByText('Version 2').waitFor();
    expect((await readCells('店別売上', '値'))[0]).toBe(135);
    await page.keyboard.press('Control+z');
    await expect.poll(async () => (await readCells('店別売上', '値'))[0]).toBe(120);
    await seeCell(page, 3, 0, '120');
  });

  it('sorts by the menu of a column, without a mouse', async () => {
    const { page } = mine;
    await chooseCell(page, 0, 0);
    await page.keyboard.press('Alt+ArrowDown');
    const menu = page.getByRole('dialog', { name: '店' });
    await menu.waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    // The keyboard is in the grid again.
    await page.keyboard.press('ArrowRight');
    await page.locator('.grid #glide-cell-2-0[aria-selected=true]').waitFor({ state: 'attached' });
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Alt+ArrowDown');
    await menu.getByRole('button', { name: 'Sort, least first' }).press('Enter');
    await seeCell(page, 0, 0, '大阪');
    await page.getByRole('button', { name: 'Clear', exact: true }).press('Enter');
    await seeCell(page, 0, 0, '東京');
  });

  it('pastes a block, with new rows behind the last', async () => {
    const { page } = mine;
    await mine.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate("navigator.clipboard.writeText('名古屋\\t2024年4月\\n福岡\\t2024年5月')");
    await typeCell(page, 0, 5, '札幌');
    await page.getByText('Version 4').waitFor();
    await page.keyboard.press('Control+v');
    await page.getByText('8 rows').waitFor();
    expect((await readCells('店別売上', '店')).slice(-3)).toEqual(['札幌', '名古屋', '福岡']);
  });

  it('holds an edit while the connection is lost, and shows who changed the cell meanwhile', async () => {
    await logIn(theirs, colleague);
    const { page, context } = theirs;
    await page.goto(tableAddress('店別売上'));
    await seeCell(page, 0, 0, '東京');
    await context.setOffline(true);
    await typeCell(page, 0, 0, '東京都');
    await page.getByText('1 cell is not saved yet.').waitFor();
    await typeCell(mine.page, 0, 0, '東京本店');
    await expect.poll(async () => (await readCells('店別売上', '店'))[0]).toBe('東京本店');
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Save again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else has changed the same cell' });
    await dialog.getByText('佐藤 花子').waitFor();
    await dialog.getByText('東京本店').waitFor();
    await dialog.getByRole('button', { name: 'Write mine' }).click();
    await expect.poll(async () => (await readCells('店別売上', '店'))[0]).toBe('東京都');
    // The other one sees it without doing anything.
    await seeCell(mine.page, 0, 0, '東京都');
    // What the browser says of the lost connection is not the page's fault.
    theirs.complaints.length = 0;
  });

  it('lets the person log in again over the page when the session has ended, and saves what it could not', async () => {
    const { page } = theirs;
    // An answer from before the log-in that comes after it.
    let release = () => {};
    const isReleased = new Promise<void>((done) => {
      release = done;
    });
    let isHeld = () => {};
    const hasHeld = new Promise<void>((done) => {
      isHeld = done;
    });
    await page.route(`**/tables/${encodeURIComponent('店別売上')}`, async (route) => {
      const response = await route.fetch();
      if (response.status() === 401) {
        isHeld();
        await isReleased;
      }
      await route.fulfill({ response });
    });
    await api.sql.query('UPDATE sessions SET revoked_at = now() WHERE user_id = $1', [colleague.userId]);
    await typeCell(page, 0, 1, '東京支店');
    await page.getByText('Your session has ended.').waitFor();
    await hasHeld;
    await logIn(theirs, colleague);
    await expect.poll(async () => (await readCells('店別売上', '店'))[1]).toBe('東京支店');
    release();
    await page.unrouteAll({ behavior: 'wait' });
    await typeCell(page, 0, 2, '東京営業所');
    await expect.poll(async () => (await readCells('店別売上', '店'))[2]).toBe('東京営業所');
    expect(await page.getByRole('dialog').count()).toBe(0);
    theirs.complaints.length = 0;
  });

  it('shows a sheet as people know it, and leads from findings and rows to cells, and from cells to rows', async () => {
    const { page } = mine;
    await dropFiles(page, 'main', { '店別売上.xlsx': await makeSampleSheet() });
    await page.locator('.side').getByRole('link', { name: '店別売上.xlsx' }).click();
    const see = (address: string, text: string) =>
      page.locator(`.sheet #glide-cell-${address}`, { hasText: text }).waitFor({ state: 'attached' });
    // Merged over five columns; with number formats.
    await see('1-0', '2024年度 第1四半期 店別売上');
    await see('5-0', '2024年度 第1四半期 店別売上');
    await see('2-3', '12,400');
    await see('5-3', '104.2%');
    const litCells = () => new URL(page.url()).searchParams.get('cells');
    await page.locator('.finding', { hasText: '35,750 is stated' }).click();
    await expect.poll(litCells).toBe('C8');
    await page.locator('.pane-grid #glide-cell-1-0', { hasText: '東京本店' }).waitFor({ state: 'attached' });
    await clickAt(page, '.pane-grid', 100, 28 + 12);
    await expect.poll(litCells).toBe('A4:B4');
    // 大阪支店 in April, behind the numbers of the rows and the first column.
    await clickAt(page, '.sheet', 32 + 131 + 50, 26 + 35 + 22 * 3 + 11);
    await expect.poll(litCells).toBe('B5');
    await page.locator('.pane-grid tr[aria-selected=true][aria-rowindex="5"]').waitFor({ state: 'attached' });
    expect(await page.locator('.pane-grid tr[aria-selected=true]').count()).toBe(1);
    // A merged cell is one: its region is chosen.
    await clickAt(page, '.sheet', 32 + 131 + 50, 26 + 17);
    await page.locator('.region.title[aria-pressed=true]').waitFor();
    // From another sheet, a finding leads to its own.
    await page.locator('.toolbar select').selectOption('在庫');
    await see('1-1', 'ボルト');
    await page.locator('.finding', { hasText: '35,750 is stated' }).click();
    await see('2-3', '12,400');
    await expect.poll(litCells).toBe('C8');
  });

  it('makes another table of a region that is dragged', async () => {
    const { page } = mine;
    await page.locator('.side').getByRole('link', { name: '店別.csv' }).click();
    await page.locator('.sheet canvas').first().waitFor();
    await page.locator('.region.data').first().click();
    const corner = await page.locator('.corner[data-corner=end]').boundingBox();
    if (!corner) throw new Error('the region has no corner');
    // One row up: without the total.
    await page.mouse.move(corner.x + 5, corner.y + 5);
    await page.mouse.down();
    await page.mouse.move(corner.x - 20, corner.y - 24, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => page.getByLabel('Cells', { exact: true }).inputValue()).toBe('A3:D5');
    await page.getByLabel('Name of the table').fill('店別のみ');
    await page.getByRole('button', { name: 'Make the table' }).click();
    await page.getByText('Made: 店別のみ').waitFor();
    expect(new Set(await readCells('店別のみ', '店'))).toEqual(new Set(['東京', '大阪']));
  });

  it('asks in SQL and keeps the answer as a table', async () => {
    const { page } = mine;
    await page.getByRole('link', { name: 'Ask' }).click();
    await page.locator('.cm-content').fill('SELECT 店, sum(値) AS 計 FROM 店別のみ GROUP BY 1 ORDER BY 1');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('2 rows in').waitFor();
    await page.getByRole('button', { name: 'Chart' }).click();
    await page.locator('.chart canvas').waitFor();
    await page.getByRole('button', { name: 'Save as a table' }).click();
    await page.getByLabel('Name of the table').fill('店の計');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('店の計 was made.').waitFor();
    expect(await readCells('店の計', '計')).toEqual([273, 375]);
  });

  it('merges a file that came back, and works through what both have changed', async () => {
    const { page } = mine;
    await page.getByRole('link', { name: 'Round trip' }).click();
    await page.getByLabel('店別のみ').check();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export to Excel' }).click()]);
    const book = new exceljs.Workbook();
    await book.xlsx.readFile(await download.path());
    const sheet = book.worksheets[0] as exceljs.Worksheet;
    const header = sheet.getRow(1).values as string[];
    sheet.getRow(2).getCell(header.indexOf('値')).value = 999;
    ok(
      await owner.client.POST(`${base}/tables/{name}/rows`, {
        params: { path: { workbook_id: workbookId, name: '店別のみ' } },
        body: { expected_version: null, rows: [{ __svc_row_id: 1, 値: 777 }] },
      }),
    );
    await dropFiles(page, '[data-drop=merge]', { 'back.xlsx': Buffer.from(await book.xlsx.writeBuffer()) });
    await page.getByRole('cell', { name: '777' }).waitFor();
    expect((await readCells('店別のみ', '値'))[0]).toBe(777);
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText('1 cell was changed on both sides').waitFor();
    expect((await readCells('店別のみ', '値'))[0]).toBe(999);
    await page.getByRole('button', { name: 'Write the other back' }).click();
    await page.getByText('Nothing waits.').waitFor();
    expect((await readCells('店別のみ', '値'))[0]).toBe(777);
  });

  it('says that a table is gone which is open', async () => {
    const { page } = theirs;
    ok(
      await owner.client.POST(`${base}/tables`, {
        params: { path: { workbook_id: workbookId } },
        body: { name: '一時', columns: [{ name: 'a' }] },
      }),
    );
    await page.goto(tableAddress('一時'));
    await page.getByText('The table has no rows.').waitFor();
    ok(
      await owner.client.DELETE(`${base}/tables/{name}`, {
        params: { path: { workbook_id: workbookId, name: '一時' }, query: { expected_version: 'null' } },
      }),
    );
    await page.getByText('The table is not there any more.').waitFor();
    theirs.complaints.length = 0;
  });

  it('had nothing that the browser complained about', async () => {
    expect([mine.complaints, theirs.complaints]).toEqual([[], []]);
    await mine.page.getByRole('button', { name: 'Log out' }).click();
    await mine.page.locator('input[name=email]').waitFor();
  });
});
