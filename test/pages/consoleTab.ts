import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Person } from '../setup/api.ts';

/** One person at the console. */
export interface Tab {
  page: Page;
  context: BrowserContext;
  /** What the browser complained about: scripts that fail, and what the page's own policy forbids. */
  complaints: string[];
}

export async function openTab(browser: Browser, url: string, options: { locale?: string; dark?: boolean } = {}): Promise<Tab> {
  const { locale = 'en-US', dark = false } = options;
  const context = await browser.newContext({ locale, colorScheme: dark ? 'dark' : 'light', viewport: { width: 1360, height: 820 } });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(url);
  return { page, context, complaints };
}

export async function logIn({ page }: Tab, { email, password }: Pick<Person, 'email' | 'password'>): Promise<void> {
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.locator('form:has(input[name=password]) button[type=submit]').click();
  await page.locator('header.bar').waitFor();
  await page.locator('input[name=password]').waitFor({ state: 'detached' });
}

/** Waits until a cell of the grid shows a text. The grid is a canvas, and tells of its cells to who cannot see it. */
export async function seeCell(page: Page, column: number, row: number, text: string): Promise<void> {
  await page
    .locator(`.grid #glide-cell-${column + 1}-${row}`)
    .filter({ hasText: text })
    .waitFor({ state: 'attached' });
}

/** Clicks into the first column and goes on with the keys, since widths follow what is in the columns. */
export async function chooseCell(page: Page, column: number, row: number): Promise<void> {
  const chosen = page.locator(`.grid #glide-cell-${column + 1}-${row}[aria-selected=true]`);
  // What stands above the grid may come or go just now, so that the click meets another cell: then once more.
  for (let tries = 0; tries < 10; tries += 1) {
    const wasChosen = (await chosen.count()) > 0;
    await clickAt(page, '.grid', 56 + 20, 32 + 28 * row + 14);
    for (let i = 0; i < column; i++) await page.keyboard.press('ArrowRight');
    // What the grid says to screen readers follows its cells a little later, so that it would tell of the cell chosen before; and
    // a click into the cell that was chosen already opens it.
    if (wasChosen) await page.waitForTimeout(500);
    const isChosen = await chosen.waitFor({ state: 'attached', timeout: 5_000 }).then(
      () => true,
      () => false,
    );
    if (isChosen) return;
  }
  throw new Error(`cell ${column} of row ${row} cannot be chosen`);
}

/** Clicks into a grid that shows a part of the page, at a place counted from its corner. */
export async function clickAt(page: Page, grid: string, x: number, y: number): Promise<void> {
  const box = await page.locator(`${grid} canvas`).first().boundingBox();
  if (!box) throw new Error(`there is no ${grid}`);
  await page.mouse.click(box.x + x, box.y + y);
}

/** Opens the cell and writes a text into it. */
export async function typeCell(page: Page, column: number, row: number, text: string): Promise<void> {
  const editor = page.locator('#portal textarea, #portal input').first();
  await chooseCell(page, column, row);
  // A click into the cell that was chosen already opens it.
  if ((await editor.count()) === 0) await page.keyboard.press('Enter');
  await editor.fill(text);
  await page.keyboard.press('Enter');
  await editor.waitFor({ state: 'detached' });
}

/** Drops files with these contents, as base64. */
export async function dropFiles(page: Page, where: string, files: Record<string, Buffer>): Promise<void> {
  const contents = Object.entries(files).map(([name, bytes]) => [name, bytes.toString('base64')]);
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const [name, text] of ${JSON.stringify(contents)})
      transfer.items.add(new File([Uint8Array.from(atob(text), (each) => each.charCodeAt(0))], name));
    return transfer;
  })()`);
  await page.dispatchEvent(where, 'drop', { dataTransfer });
}
