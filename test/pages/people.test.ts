import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig, projectDir } from '../../store/config.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';

/** What is at `/`, and the guide. */

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
      log_in: { sign_up: true, oidc: false },
      links: { reference: '/docs', contract: '/openapi.json', guide: '/guide', temporal: 'https://temporal.example.com/' },
    });
    expect(answer.headers.get('vary')).toMatch(/Accept\b/);
  });

  it.each(['/', '/workbooks', '/workbooks/wb_x/tables/%E5%A3%B2%E4%B8%8A?filter=a', '/settings/tokens'])(
    'shows a person the console at %s, and all that it names is there',
    async (address) => {
      const answer = await openAsPerson(address);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const policy = answer.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const text = await answer.text();
      expect(text).not.toMatch(/<script(?! type="module" src=)|style=/);
      const named = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link as string);
      expect(named.filter((each) => each.startsWith('/console/'))).toHaveLength(2);
      for (const link of named) expect([link, (await openAsPerson(link)).status]).toEqual([link, 200]);
    },
  );

  it('keeps the parts of the console for good, and the page never', async () => {
    const page = await openAsPerson('/');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const [part = ''] = /\/console\/[^"]+\.js/.exec(await page.text()) ?? [];
    expect((await fetch(`${api.url}${part}`)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it.each([
    ['/workbooks', 'application/json'],
    ['/workbooks', '*/*'],
    ['/api/v1/nothing', 'text/html'],
    ['/api/nothing', 'application/json'],
    ['/workbook', 'text/html'],
    ['/console/nothing.js', '*/*'],
  ])('is no page at %s for who takes %s', async (path, Accept) => {
    const answer = await fetch(`${api.url}${path}`, { headers: { Accept } });
    expect([answer.status, (await answer.text()).includes('urn:svc:problem:not-found')]).toEqual([404, true]);
  });

  it('asks the parts once for many who come at once', async () => {
    let asked = 0;
    const exists = api.running.services.blobs.exists;
    api.running.services.blobs.exists = (key) => {
      asked += 1;
      return exists.call(api.running.services.blobs, key);
    };
    await expect.poll(async () => [(await api.fetch('/')).status, asked]).toEqual([200, 1]);
    asked = 0;
    await Promise.all(Array.from({ length: 20 }, () => api.fetch('/')));
    expect(asked).toBeLessThan(20);
    api.running.services.blobs.exists = exists;
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
