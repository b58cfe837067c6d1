import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeHomePage } from '../../api/pages/home.ts';
import { loadConfig, projectDir } from '../../store/config.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';

/** The page at `/` and the guide. */

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off', TEMPORAL_UI_URL: 'https://temporal.example.com/' });
});
afterAll(() => api.stop());

const openAsPerson = (path: string) => fetch(`${api.url}${path}`, { headers: { Accept: 'text/html,*/*;q=0.8' } });

describe('the address itself', () => {
  it('tells a program what this is', async () => {
    const answer = await api.fetch('/');
    expect(await answer.json()).toEqual({
      name: 'Workbook Data Service',
      version: api.contract.version,
      status: 'ready',
      // Nothing works here, and the API needs no worker.
      away: ['workers'],
      links: { reference: '/docs', contract: '/openapi.json', guide: '/guide', temporal: 'https://temporal.example.com/' },
    });
    expect(answer.headers.get('vary')).toMatch(/Accept\b/);
  });

  it('shows a person a page whose links lead somewhere', async () => {
    const answer = await openAsPerson('/');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const text = await answer.text();
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link as string);
    expect(links).toContain('https://temporal.example.com/');
    for (const link of links.filter((each) => each.startsWith('/'))) expect([link, (await openAsPerson(link)).status]).toEqual([link, 200]);
  });

  it('asks the parts once for many who come at once', async () => {
    let asked = 0;
    const exists = api.running.services.blobs.exists;
    api.running.services.blobs.exists = (key) => {
      asked += 1;
      return exists.call(api.running.services.blobs, key);
    };
    await expect.poll(async () => [(await openAsPerson('/')).status, asked]).toEqual([200, 1]);
    asked = 0;
    await Promise.all(Array.from({ length: 20 }, () => openAsPerson('/')));
    expect(asked).toBeLessThan(20);
    api.running.services.blobs.exists = exists;
  });

  it('says which parts are away', () => {
    const home = { version: '1', publicUrl: 'http://x', temporalUrl: null, canSignUp: false };
    const page = String(makeHomePage({ ...home, away: ['blobs', '<b>'] }).raw.data);
    expect(page).toContain('Does not answer: blobs, &#60;b&#62;.');
    expect(page).not.toContain('All parts work');
    expect(page).not.toContain('signup');
  });

  it.each([
    [{}, 'http://127.0.0.1:8233'],
    [{ TEMPORAL_UI_PORT: '9000' }, 'http://127.0.0.1:9000'],
    [{ TEMPORAL_ADDRESS: 'temporal:7233' }, null],
    [{ TEMPORAL_ADDRESS: 'temporal:7233', TEMPORAL_UI_URL: 'https://temporal.example.com' }, 'https://temporal.example.com'],
  ])("with %j Temporal's page is at %s", (env, url) => {
    expect(loadConfig(env).temporal.uiUrl).toBe(url);
  });
});

describe('the guide', () => {
  it('has every document, and all links between them lead to one, with its anchor', async () => {
    const decisions = (await readdir(join(projectDir, 'docs/decisions'))).filter((name) => /^\d/.test(name));
    const seen = new Map<string, string>();
    const waiting = ['/guide'];
    const anchors: string[] = [];
    for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
      if (seen.has(address)) continue;
      const answer = await api.fetch(address);
      expect([address, answer.status]).toEqual([address, 200]);
      const text = await answer.text();
      seen.set(address, text);
      const links = [...text.matchAll(/href="(\/guide[^"]*)"/g)].map(([, link]) => link as string);
      anchors.push(...links.filter((link) => link.includes('#')));
      waiting.push(...links.map((link) => link.split('#')[0] as string));
    }
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining([
        '/guide/architecture',
        '/guide/decisions',
        '/guide/CHANGELOG',
        ...decisions.map((name) => `/guide/${name.slice(0, -3)}`),
      ]),
    );
    const broken = anchors.filter((link) => {
      const [address = '', anchor] = link.split('#');
      return !seen.get(address)?.includes(`id="${anchor}"`);
    });
    expect([anchors.length > 20, broken]).toEqual([true, []]);
  });

  it.each(['nothing', 'constructor', '..%2Fpackage', 'README'])('has no page %s', async (name) => {
    expect((await api.fetch(`/guide/${name}`)).status).toBe(404);
  });
});
