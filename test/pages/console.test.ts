import { readFile } from 'node:fs/promises';
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
/** Of the same layout, a year later. */
const nextSales = Buffer.from('店別売上\n(単位：千円)\n店,2025年4月,2025年5月,2025年6月\n東京,140,150,145\n大阪,91,96,89\n仙台,40,41,42\n');
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

  it('logs in, understands files that are dropped together, lets one be cancelled, and shows a table', async () => {
    const { page } = mine;
    await page.locator('#health').waitFor();
    await logIn(mine, owner);
    await page.getByRole('link', { name: '2024年度' }).click();
    await page.getByText('This workbook is empty.').waitFor();
    // One of them does not get through.
    await page.route('**/sources', (route) => (route.request().postDataBuffer()?.includes('遅い') ? undefined : route.continue()));
    await dropFiles(page, 'main', { '遅い.csv': sales, '店別.csv': sales });
    const slow = page.locator('.uploads li', { hasText: '遅い.csv' });
    await slow.locator('progress').waitFor();
    await page.locator('.side').getByRole('link', { name: '店別.csv' }).waitFor();
    await slow.getByRole('button', { name: 'Cancel' }).click();
    await slow.waitFor({ state: 'detached' });
    await page.unrouteAll();
    // Found by the keyboard.
    await page.keyboard.press('/');
    await page.keyboard.type('店別売');
    await page.getByRole('option', { name: '店別売上', exact: false }).first().waitFor();
    await page.keyboard.press('Enter');
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

  it('saves what is typed, says what does not fit, and takes it back', async () => {
    const { page } = mine;
    await typeCell(page, 3, 0, '百');
    await page.getByText('must be a whole number').waitFor();
    mine.complaints.length = 0;
    // Written anew, it goes in place of what was refused.
    await typeCell(page, 3, 0, '135');
    await page.getByText('Version 2').waitFor();
    expect((await readCells('店別売上', '値'))[0]).toBe(135);
    await page.keyboard.press('Control+z');
    await expect.poll(async () => (await readCells('店別売上', '値'))[0]).toBe(120);
    await seeCell(page, 3, 0, '120');
  });

  it('sorts and filters by the menu of a column, without a mouse', async () => {
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
    await menu.waitFor({ state: 'detached' });
    await page.keyboard.press('Alt+ArrowDown');
    await menu.getByLabel('Condition').selectOption('equals');
    await menu.getByLabel('Value').fill('東京');
    await page.keyboard.press('Enter');
    await page.getByText('3 rows').waitFor();
    await seeCell(page, 0, 0, '東京');
    await page.getByRole('button', { name: 'Clear', exact: true }).press('Enter');
    await page.getByText('6 rows').waitFor();
    await seeCell(page, 0, 0, '東京');
  });

  it('tells of a cell what became of it, of the table what is in it and was, and keeps notes', async () => {
    const { page } = mine;
    await page.goto(`${tableAddress('店別売上')}?panel=cell`);
    await chooseCell(page, 3, 0);
    const panel = page.getByRole('tabpanel');
    await panel.getByText('120 → 135').waitFor();
    await panel.getByText('佐藤 花子').first().waitFor();
    await panel.getByRole('link', { name: '店別.csv' }).first().waitFor();
    await panel.getByLabel('Note').fill('速報');
    await page.keyboard.press('Enter');
    await page.getByText('The note is kept.').waitFor();
    // The address says which cell it is.
    await page.waitForURL(/row=1&column=/);
    await page.reload();
    await expect.poll(() => panel.getByLabel('Note').inputValue()).toBe('速報');
    await page.getByRole('tab', { name: 'Profile' }).click();
    await panel.locator('svg.bars').first().waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await panel.getByLabel('Label the workbook as it is now').fill('締め');
    await page.keyboard.press('Enter');
    await panel.getByRole('listitem').filter({ hasText: '締め' }).waitFor();
    await panel.getByRole('slider').press('ArrowLeft');
    await page.getByText('You see the table as it was at version 2.').waitFor();
    await seeCell(page, 3, 0, '135');
    await panel.getByLabel('From').fill('1');
    await panel.getByLabel('To', { exact: true }).fill('2');
    await panel.getByRole('button', { name: 'Compare' }).click();
    await panel.getByText('120 → 135').waitFor();
    await page.reload();
    await panel.getByText('120 → 135').waitFor();
    await page.getByRole('button', { name: 'Show it as it is now' }).click();
    await seeCell(page, 3, 0, '120');
    await page.getByRole('tab', { name: 'Lineage' }).click();
    await panel.getByRole('img').waitFor();
    await panel.getByRole('link', { name: '店別.csv' }).waitFor();
    await page.getByRole('tab', { name: 'Lineage' }).click();
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
    // It goes as soon as the connection is back.
    await context.setOffline(false);
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
    // Of what was found while the file was read there is one line for each cause; the review of the table says it no second time.
    const finding = page.locator('.findings li', { hasText: '35750' });
    await finding.getByRole('button', { name: 'C8', exact: true }).click();
    await expect.poll(litCells).toBe('C8');
    await page.getByText('being looked through').waitFor({ state: 'detached' });
    expect(await page.locator('.findings li', { hasText: '合計' }).count()).toBe(1);
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
    await finding.locator('.finding').click();
    await see('2-3', '12,400');
    await expect.poll(litCells).toBe('C8');
  });

  it('makes another table of a region that is corrected by the mouse, and reads the next file of the layout so', async () => {
    const { page } = mine;
    await page.locator('.side').getByRole('link', { name: '店別.csv' }).click();
    await page.locator('.sheet canvas').first().waitFor();
    await page.locator('.region.data').first().click();
    await page.getByText('Why it is read like this').click();
    await page.locator('.regions details').getByText('% sure').first().waitFor();
    const range = () => page.getByLabel('Cells', { exact: true }).inputValue();
    const drag = async (sides: string, across: number, down: number) => {
      const box = await page.locator(`.handle[data-sides="${sides}"]`).boundingBox();
      if (!box) throw new Error(`the region has no ${sides}`);
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + across, y + down, { steps: 4 });
      await page.mouse.up();
    };
    // One row up, without the total, by the lower edge; one column less by the corner, and back.
    await drag('bottom', 0, -24);
    await expect.poll(range).toBe('A3:D5');
    await drag('right bottom', -95, -5);
    await expect.poll(range).toBe('A3:C5');
    await drag('right', 60, 0);
    await expect.poll(range).toBe('A3:D5');
    await page.getByLabel('Name of the table').fill('店別のみ');
    await page.getByText('Columns (4)').click();
    await page.getByLabel('Columns A', { exact: true }).fill('店舗');
    const preview = page.locator('.preview');
    await preview.getByRole('columnheader', { name: '店舗' }).waitFor();
    await preview.getByRole('columnheader', { name: '期間' }).waitFor();
    await page.getByLabel('Periods as rows (long form)').uncheck();
    await preview.getByRole('columnheader', { name: '2024年4月' }).waitFor();
    await page.getByLabel('Periods as rows (long form)').check();
    await preview.getByRole('columnheader', { name: '期間' }).waitFor();
    // Nothing is lost by a reload, and nothing has changed.
    await page.reload();
    await expect.poll(() => page.getByLabel('Name of the table').inputValue()).toBe('店別のみ');
    expect(await page.locator('.side').getByRole('link', { name: '店別のみ' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Make the table' }).click();
    await page.getByText('Made: 店別のみ').waitFor();
    await page.getByText('remembered for the next file of this layout').waitFor();
    expect(new Set(await readCells('店別のみ', '店舗'))).toEqual(new Set(['東京', '大阪']));
    await dropFiles(page, 'main', { '店別 次.csv': nextSales });
    await page.locator('.side').getByRole('link', { name: '店別 次.csv' }).click();
    await page.getByText('Read as you corrected a sheet of the same layout').waitFor();
    const { artifacts } = ok(
      await owner.client.GET(`${base}/sources/{source_name}`, {
        params: { path: { workbook_id: workbookId, source_name: '店別 次.csv' } },
      }),
    );
    const cells = await Promise.all(artifacts.map((name) => readCells(name, '店舗')));
    expect(cells.flat()).toContain('仙台');
  });

  it('asks in SQL and keeps the answer as a table', async () => {
    const { page } = mine;
    await page.getByRole('link', { name: 'Ask' }).click();
    const editor = page.locator('.cm-content');
    // Names are completed, and what is wrong is said before it runs.
    await editor.click();
    await page.keyboard.type('SELECT 価格 FROM 店別の');
    // By the mouse: Enter is a new line in the first moments of a list, lest somebody who types takes what has just appeared.
    await page.locator('.cm-tooltip-autocomplete li', { hasText: '店別のみ' }).first().click();
    await editor.filter({ hasText: '店別のみ' }).waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('SELECT 店舗, sum(値) AS 計 FROM 店別のみ GROUP BY 1 ORDER BY 1');
    await page.locator('.cm-lintRange-error').first().waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Enter');
    await page.getByText('2 rows in').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
    expect(await readFile(await file.path(), 'utf8')).toContain('店舗,計');
    // Rows, and then the chart, are there after a reload.
    await page.reload();
    await page.getByText('2 rows in').waitFor();
    await page.getByRole('button', { name: 'Chart' }).click();
    await page.locator('.chart canvas').waitFor();
    await page.getByLabel('Kind').selectOption('line');
    await page.reload();
    await page.locator('.chart canvas').waitFor();
    expect(await page.getByLabel('Kind').inputValue()).toBe('line');
    await page.getByRole('button', { name: 'Save as a table' }).click();
    await page.getByLabel('Name of the table').fill('店の計');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('店の計 was made.').waitFor();
    expect(await readCells('店の計', '計')).toEqual([273, 375]);
  });

  it('merges a file that came back, and works through what both have changed', async () => {
    const { page } = mine;
    await page.getByRole('link', { name: 'Round trip' }).click();
    await page.getByLabel('店別のみ 6 rows').check();
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
    sheet.getRow(3).getCell(header.indexOf('値')).value = 555;
    await dropFiles(page, '[data-drop=merge]', { 'back.xlsx': Buffer.from(await book.xlsx.writeBuffer()) });
    // Cell by cell: one that both have changed, and one that only the file has.
    await page.getByRole('row', { name: '値 both changed 120 777 999' }).waitFor();
    await page.getByRole('row', { name: '値 130 130 555' }).waitFor();
    expect((await readCells('店別のみ', '値'))[0]).toBe(777);
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText('1 cell was changed on both sides').waitFor();
    expect((await readCells('店別のみ', '値'))[0]).toBe(999);
    await page.getByRole('button', { name: 'Write the other back' }).click();
    await page.getByText('Nothing waits.').waitFor();
    expect((await readCells('店別のみ', '値'))[0]).toBe(777);
  });

  it('says that a table is stale, and makes it new', async () => {
    const { page } = mine;
    await page.goto(tableAddress('店の計'));
    await page.getByRole('button', { name: 'Recompute' }).click();
    await page.getByText('1 table was recomputed.').waitFor();
    await page.getByRole('button', { name: 'Recompute' }).waitFor({ state: 'detached' });
    expect(await readCells('店の計', '計')).toEqual([273, 120 - 120 + 777 + 555 + 125]);
  });

  it('reviews the tables, with evidence that leads to its cell', async () => {
    const { page } = mine;
    await page.getByRole('link', { name: 'Governance' }).click();
    await page.getByRole('button', { name: 'Look for mistakes' }).click();
    const found = page.getByRole('listitem').filter({ hasText: '35,750 is stated' });
    await found.getByRole('link').first().click();
    await page.getByRole('tabpanel').getByText('店別売上.xlsx').first().waitFor();
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
