import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyze, build } from '../core/structuring/index.ts';
import { makeConfigurationPage } from '../scripts/docs/configurationPage.ts';
import { makeThirdPartyNotices } from '../scripts/docs/thirdPartyNotices.ts';
import { projectDir } from '../store/config.ts';
import { readCsv } from '../store/csv/index.ts';

/** The pages for people: what they point at exists, and what is made from the sources is fresh. */

interface Page {
  path: string;
  text: string;
  /** Without blocks of code. */
  prose: string;
}

async function readPages(): Promise<Page[]> {
  const top = (await readdir(projectDir)).filter((name) => name.endsWith('.md'));
  const inDocs = (await readdir(join(projectDir, 'docs'), { recursive: true })).filter((name) => name.endsWith('.md'));
  return Promise.all(
    [...top, ...inDocs.map((name) => join('docs', name))].map(async (path) => {
      const text = await readFile(join(projectDir, path), 'utf8');
      return { path, text, prose: text.replace(/^```.*?^```$/gms, '') };
    }),
  );
}

/** The anchor that a heading gets: lower case, words joined by dashes, other marks dropped. */
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

const anchorsOf = (prose: string) => [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => toAnchor(heading as string));

const listLinks = (prose: string) => [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string);

/** What stands in backticks and has a slash. */
const listPaths = (prose: string) =>
  [...prose.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)*\/?)`/g)].map(([, name]) => name as string).filter((name) => name.includes('/'));

const pages = await readPages();

/** Links to other hosts are believed. */
function leads(path: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : relative(projectDir, resolve(projectDir, dirname(path), decodeURIComponent(file)));
  if (!existsSync(join(projectDir, target))) return false;
  const linked = pages.find((each) => each.path === target);
  return anchor === undefined || (linked !== undefined && anchorsOf(linked.prose).includes(anchor));
}

describe('what is generated is fresh (npm run generate)', () => {
  it.each([
    ['docs/configuration.md', makeConfigurationPage],
    ['THIRD_PARTY_NOTICES.md', makeThirdPartyNotices],
  ])('%s', async (path, make) => {
    expect((await readFile(join(projectDir, path), 'utf8')) === make() ? 'fresh' : 'run npm run generate').toBe('fresh');
  });
});

describe('what the pages point at exists', () => {
  it('links, with their anchors', () => {
    const broken = pages.flatMap(({ path, prose }) => listLinks(prose).flatMap((link) => (leads(path, link) ? [] : [`${path}: ${link}`])));
    expect(broken).toEqual([]);
  });

  it('files and folders', async () => {
    const folders = (await readdir(projectDir, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const missing = pages.flatMap(({ path, prose }) =>
      listPaths(prose)
        // Without a folder of the project at its start it is something else: a media type, a package, an address.
        .filter((name) => folders.includes(name.split('/')[0] as string) && !existsSync(join(projectDir, name)))
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('decisions', () => {
  const decisions = pages.filter(({ path }) => /^docs\/decisions\/\d{4}-/.test(path)).sort((a, b) => (a.path < b.path ? -1 : 1));

  it('are numbered one after the other, and the index lists them all', () => {
    const files = decisions.map(({ path }) => path.slice('docs/decisions/'.length));
    const index = pages.find(({ path }) => path === 'docs/decisions/README.md')?.prose ?? '';
    expect(listLinks(index).filter((link) => /^\d{4}-/.test(link))).toEqual(files);
    expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, i) => i + 1));
  });

  it('have a context, a choice and consequences', () => {
    for (const { path, text } of decisions) {
      const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
      expect([path, ...headings]).toEqual([path, 'Context', 'Choice', 'Consequences']);
    }
  });
});

it('the example of docs/structuring.md gives the tables that the page lists', async () => {
  const page = await readFile(join(projectDir, 'docs/structuring.md'), 'utf8');
  const [, text = '', name = ''] = /printf '(.*)' > (\S+)/.exec(page) ?? [];
  const listed = /## An example.*?(?=\n## )/s.exec(page)?.[0].matchAll(/^\| `([^`]+)`/gm) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-page-'));
  try {
    const path = join(folder, name);
    await writeFile(path, text.replaceAll('\\n', '\n'));
    const grids = [(await readCsv(path)).grid];
    const { tables, conservation } = build(grids, analyze(grids, name), name);
    expect(tables.map((table) => table.name).sort()).toEqual([...listed].map(([, table]) => table).sort());
    expect(tables.length).toBe(5);
    expect(conservation.flatMap(({ lost, twice }) => [...lost, ...twice])).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
