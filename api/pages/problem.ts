import { type Html, html } from './html.ts';
import { makePage, type Page } from './layout.ts';

/** What every problem document has; further members differ. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  suggested_fix: string;
  instance: string;
  [member: string]: unknown;
}

/** The facts of a problem document, for a person who came with a browser. */
export function makeProblemPage(problem: Problem): Page {
  const { type, title, status, detail, suggested_fix: suggestedFix, instance, ...members } = problem;
  const body = html`<nav><a href="/">Workbook Data Service</a> · <a href="/docs">Reference</a></nav>
<h1>${title}</h1>
<p>${detail}</p>
<p><strong>${suggestedFix}</strong></p>
${Object.entries(members).map(([name, value]) => describeMember(name, value))}
<dl class="dim">
<dt>Status</dt><dd>${status}</dd>
<dt>Type</dt><dd><code>${type}</code></dd>
<dt>Request</dt><dd><code>${instance}</code></dd>
</dl>`;
  return makePage(`${status} ${title}`, body);
}

function describeMember(name: string, value: unknown): Html {
  return html`<h2>${name}</h2>
<pre>${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
`;
}
