import { readConsoleBundle } from '../../store/builds/consoleBundle.ts';
import type { RawContent } from '../http/call.ts';
import { html } from './html.ts';
import type { Page } from './layout.ts';

/** The console: one page with addresses of its own inside. Its files are made from `console/` when they are first asked for. */

/** Nothing from elsewhere, no script in the page itself. Pictures of charts and of cells are made by the page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };

const addresses = /^\/(workbooks|settings|log-in)(\/|$)/;

/** Addresses that lead into the page. No operation has one of these. */
export const isConsoleAddress = (path: string): boolean => addresses.test(path);

interface ConsoleFile {
  headers: Record<string, string>;
  raw: RawContent;
}

export interface Console {
  page(): Promise<Page>;
  /** A file by its name; null if there is none. */
  file(name: string): Promise<ConsoleFile | null>;
}

export function openConsole(): Console {
  let reading: Promise<Map<string, Buffer>> | null = null;
  const read = () => {
    reading ??= readConsoleBundle();
    // A build that failed is tried again.
    reading.catch(() => {
      reading = null;
    });
    return reading;
  };
  return {
    async page() {
      const names = [...(await read()).keys()];
      const find = (ending: string) => names.find((name) => name.startsWith('console-') && name.endsWith(ending)) ?? '';
      const parts = names.filter((name) => name.endsWith('.js') && name !== find('.js'));
      return makePage(find('.js'), find('.css'), parts);
    },
    async file(name) {
      const data = (await read()).get(name);
      const type = types[name.split('.').at(-1) ?? ''];
      return data && type ? { headers: { 'Cache-Control': 'public, max-age=31536000, immutable' }, raw: { type, data } } : null;
    },
  };
}

/** `parts` are loaded when a page needs them; they are named, so that they can be fetched while nothing else is to be done. */
function makePage(script: string, style: string, parts: string[]): Page {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Workbook Data Service</title>
<meta name="console-parts" content="${parts.join(' ')}">
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/console/${style}">
<script type="module" src="/console/${script}"></script>
</head>
<body>
<div id="console"></div>
<div id="portal"></div>
<noscript><p>The console needs JavaScript. <a href="/docs">Reference</a> · <a href="/guide">Guide</a> · <a href="/readyz">Readiness</a></p></noscript>
</body>
</html>
`;
  return {
    headers: { 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache' },
    raw: { type: 'text/html', data: page.text },
  };
}
