import { html } from './html.ts';
import { makePage, type Page } from './layout.ts';

export interface Home {
  version: string;
  publicUrl: string;
  /** Parts that do not answer; none: all is well. */
  away: string[];
  /** Temporal's page for operators, where there is one. */
  temporalUrl: string | null;
  canSignUp: boolean;
}

/** The page at `/`: what this is, whether it works, where to go on. */
export function makeHomePage({ version, publicUrl, away, temporalUrl, canSignUp }: Home): Page {
  const health =
    away.length === 0
      ? html`<strong class="good">All parts work.</strong>`
      : html`<strong class="bad">Does not answer: ${away.join(', ')}.</strong> The log says more.`;
  const body = html`<h1>Workbook Data Service</h1>
<p>Turns the spreadsheets people really have into typed, versioned, row-identified tables, and lets programs, agents and people query,
edit, govern and export them.</p>
<p id="health">${health} <span class="dim">Version ${version} · <a href="/readyz">readiness</a></span></p>
<h2>Where to go</h2>
<dl>
<dt><a href="/docs">Reference</a></dt><dd>Every operation, to read and to try.</dd>
<dt><a href="/openapi.json">Contract</a></dt><dd>OpenAPI 3.1, as JSON or as <a href="/openapi.yaml">YAML</a>: one generator away from a client in your language.</dd>
<dt><a href="/guide">Guide</a></dt><dd>How to use, run and extend the service, and why it is as it is.</dd>
${temporalUrl === null ? '' : html`<dt><a href="${temporalUrl}">Temporal</a></dt><dd>Long work, step by step: a page for operators.</dd>`}
</dl>
<h2>One command to try</h2>
<pre><code>curl -H "Authorization: Bearer $TOKEN" ${publicUrl}/api/v1/me</code></pre>
<p class="dim">The first start prints a token and keeps it in the file first-token of the data dir.${canSignUp ? ' Anybody can make a user with POST /api/auth/signup; the session token that it answers works as well.' : ''}</p>`;
  return makePage('Workbook Data Service', body);
}
