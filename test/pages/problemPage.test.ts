import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeProblemPage } from '../../api/pages/problem.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
});
afterAll(() => api.stop());

const navigation = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

describe('a problem', () => {
  it.each([
    ['a browser that opens an address', navigation, 'text/html'],
    ['who asks for HTML', 'text/html', 'text/html'],
    ['who prefers HTML', 'application/json;q=0.5, text/html', 'text/html'],
    ['who takes anything', '*/*', 'application/problem+json'],
    ['who says nothing', undefined, 'application/problem+json'],
    ['who asks for JSON', 'application/json', 'application/problem+json'],
    ['who takes both and names JSON first', 'application/json, text/html', 'application/problem+json'],
    ['who takes neither', 'image/png', 'application/problem+json'],
  ])('for %s', async (_, accept, type) => {
    const headers: Record<string, string> = accept ? { Accept: accept } : {};
    const answer = await fetch(`${api.url}/api/v1/me`, { headers });
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([401, type]);
    expect(answer.headers.get('vary')).toMatch(/Accept/i);
  });

  it('says the same as a page as it does as a document', async () => {
    const [page, document] = await Promise.all(
      [navigation, 'application/json'].map((Accept) => fetch(`${api.url}/api/v1/nothing`, { headers: { Accept } })),
    );
    const problem = (await document?.json()) as Record<string, string>;
    const text = await page?.text();
    for (const member of ['type', 'title', 'status', 'detail', 'suggested_fix']) expect(text).toContain(String(problem[member]));
    expect(text).toContain(page?.headers.get('x-request-id'));
    expect(text).toContain('href="/docs"');
  });

  it('shows what callers sent as text, never as HTML', () => {
    const evil = `<script>alert("1")</script> & 'more'`;
    const { raw, headers } = makeProblemPage({
      type: evil,
      title: evil,
      status: 422,
      detail: evil,
      suggested_fix: evil,
      instance: evil,
      errors: [{ pointer: evil, detail: evil }],
      [evil]: evil,
    });
    expect(raw.data).not.toContain('<script');
    expect(String(raw.data).match(/&#60;script&#62;/g)?.length).toBeGreaterThanOrEqual(9);
    expect(headers['Content-Security-Policy']).not.toMatch(/script-src|unsafe/);
  });
});
