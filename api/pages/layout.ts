import { createHash } from 'node:crypto';
import type { RawContent } from '../http/call.ts';
import { Html, html } from './html.ts';

const style = `
:root { color-scheme: light dark; --ink: #1c2430; --dim: #5b6675; --line: #d8dee6; --ground: #fff; --box: #f4f6f9; --link: #0b57a4; --good: #1a7f37; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9f0; --dim: #9aa6b5; --line: #364150; --ground: #141a22; --box: #1d2530; --link: #7fb8f5; --good: #57c271; --bad: #ff8a80 } }
body { max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem; font: 1rem/1.55 system-ui, sans-serif; color: var(--ink); background: var(--ground) }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 1.5rem 0 .5rem }
a { color: var(--link) } .dim { color: var(--dim) } .good { color: var(--good) } .bad { color: var(--bad) }
code, pre { font: .9em/1.5 ui-monospace, monospace; background: var(--box); border-radius: 4px } code { padding: .1em .3em }
pre { padding: .8rem 1rem; overflow-x: auto } pre code { padding: 0; font-size: 1em }
dt { font-weight: 600 } dd { margin: 0 0 .6rem } td, th { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line) }
button { font: inherit; padding: .45rem 1.1rem; margin: 0 .5rem .5rem 0; border: 1px solid var(--line); border-radius: 6px; background: var(--box); color: var(--ink); cursor: pointer }
button.main { background: var(--link); border-color: var(--link); color: var(--ground) }
table { border-collapse: collapse; display: block; overflow-x: auto } nav { margin-bottom: 2rem }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** For pages without scripts: nothing but their own style and pictures of this service. */
const policyOf = (formTargets: string[]) =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; img-src 'self'; base-uri 'none'; form-action ${formTargets.join(' ') || "'none'"}; frame-ancestors 'none'`;

export interface Page {
  headers: Record<string, string>;
  raw: RawContent;
}

/**
 * A page for a person, whole in one file, so that it can be shown whatever else fails. `formTargets`: where its forms may lead,
 * redirects included.
 */
export function makePage(title: string, body: Html, formTargets: string[] = [], language = 'en'): Page {
  const page = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`;
  return { headers: { 'Content-Security-Policy': policyOf(formTargets) }, raw: { type: 'text/html', data: page.text } };
}
