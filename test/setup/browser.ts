import { type Browser, chromium } from 'playwright-core';
import { loadConfig } from '../../store/config.ts';
import { findProgram } from '../../store/findProgram.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The program in CHROMIUM, or the first of the usual names on the PATH. Null: this machine has no browser. */
export function findChromium({ CHROMIUM, PATH } = process.env): string | null {
  const { searchPath } = loadConfig({ PATH }).machine;
  return (CHROMIUM ? [CHROMIUM] : names).map((name) => findProgram(name, searchPath)).find((path) => path !== null) ?? null;
}

/** Without the sandbox of the browser, which does not work for root: it opens pages of this service only. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, chromiumSandbox: false });
}
