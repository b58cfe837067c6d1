import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { loadConfig } from '../../store/config.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The program in CHROMIUM, or the first of the usual names on the PATH. Null: this machine has no browser. */
export function findChromium({ CHROMIUM, PATH } = process.env): string | null {
  const { searchPath } = loadConfig({ PATH }).machine;
  const candidates = CHROMIUM ? [CHROMIUM] : names.flatMap((name) => searchPath.map((dir) => join(dir, name)));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Without the sandbox of the browser, which does not work for root: it opens pages of this service only. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, chromiumSandbox: false });
}
