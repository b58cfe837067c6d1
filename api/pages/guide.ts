import { posix } from 'node:path';
import { Marked } from 'marked';
import { readDocuments } from '../../store/projectFiles.ts';
import { Html, html } from './html.ts';
import { makePage, type Page } from './layout.ts';

/** The documents of the project as pages: `docs/api.md` is `/guide/api`, the README is `/guide` itself. */

/** Finds pages by their address. The documents are read once, at the first call. */
export function openGuide(): (address: string) => Promise<Page | null> {
  let pages: Promise<Map<string, Page>> | null = null;
  return async (address) => {
    pages ??= makeGuidePages().catch((error: unknown) => {
      pages = null;
      throw error;
    });
    return (await pages).get(address) ?? null;
  };
}

async function makeGuidePages(): Promise<Map<string, Page>> {
  const documents = await readDocuments();
  const known = new Set(documents.keys());
  return new Map([...documents].map(([path, text]) => [addressOfDocument(path), makeGuidePage(path, text, known)]));
}

/** The address of a document, given its path in the project. */
function addressOfDocument(path: string): string {
  if (path === 'README.md') return '/guide';
  const name = path.replace(/^docs\//, '').replace(/\.md$/, '');
  return `/guide/${posix.basename(name) === 'README' ? posix.dirname(name) : posix.basename(name)}`;
}

/** `known` has the paths of all documents: links to them lead to their pages, links to other files of the project nowhere. */
function makeGuidePage(path: string, markdown: string, known: ReadonlySet<string>): Page {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return html`<h${depth} id="${toAnchor(text)}">${new Html(this.parser.parseInline(tokens))}</h${depth}>\n`.text;
      },
      link({ href, tokens }) {
        const text = new Html(this.parser.parseInline(tokens));
        const target = findTarget(path, href, known);
        return target === null ? text.text : html`<a href="${target}">${text}</a>`.text;
      },
      // Pictures are files of the project, which are not served: what they show is said instead.
      image({ text }) {
        return html`<em>${text}</em>`.text;
      },
    },
  });
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? path;
  const body = html`<nav><a href="/">Workbook Data Service</a> · <a href="/guide">Guide</a> · <a href="/docs">Reference</a></nav>
<main>${new Html(marked.parse(markdown, { async: false }))}</main>`;
  return makePage(title, body);
}

function findTarget(path: string, href: string, known: ReadonlySet<string>): string | null {
  if (/^[a-z]+:/.test(href)) return /^https?:/.test(href) ? href : null;
  const [file = '', anchor] = href.split('#');
  const target = file === '' ? path : posix.join(posix.dirname(path), decodeURIComponent(file));
  // A folder stands for its README.
  const document = [target, posix.join(target, 'README.md')].find((each) => known.has(each));
  return document === undefined ? null : addressOfDocument(document) + (anchor === undefined ? '' : `#${anchor}`);
}

/** Lower case, words joined by dashes, other marks dropped: as the links in the documents have it. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}
