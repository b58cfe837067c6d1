import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { connect } from '../mcp/client.ts';
import { serve, serveFile } from '../setup/fileServer.ts';
import { expectRefusal, leavingNothing, type Refusal } from './leftovers.ts';
import { makeXlsx, namesOf, type UploadAnswer, useWorld } from './world.ts';

const world = await useWorld();

/** As fast as it is taken, until the other side has had enough. */
const pourForever: RequestListener = (_, answer) => {
  const piece = Buffer.alloc(1024 * 1024, 'a');
  const pour = () => {
    while (!answer.destroyed && answer.write(piece));
  };
  answer.on('drain', pour);
  pour();
};

function ask(body: components['schemas']['UrlIngestRequest'], headers: Record<string, string> = {}): Promise<Response> {
  return world.api.fetch(`/api/v1/workbooks/${world.workbookId}/sources/from-url`, {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

describe('ingestUrl', () => {
  it('ingests a file as an upload does, and remembers where it came from', async () => {
    const url = await serveFile('都道府県.csv', '県,数\n東京,1\n大阪,2\n', { 'Content-Type': 'text/csv' });
    const answer = await ask({ url: `${url}?token=secret#part`, structuring: 'skip' });
    const body = (await answer.json()) as UploadAnswer;
    expect([answer.status, body.source.name, namesOf(body)]).toEqual([201, '都道府県.csv', ['都道府県']]);
    expect(body.source.provenance).toEqual({ kind: 'url', url, at: expect.any(String) });
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(await world.readCells('都道府県')).toHaveLength(3);
    const again = await ask({ url, structuring: 'skip' });
    expect([again.status, ((await again.json()) as UploadAnswer).source.id]).toEqual([200, body.source.id]);
  });

  it('tells a workbook by its bytes, and takes another name for it', async () => {
    const url = await serveFile(
      'download',
      await makeXlsx({
        表: [
          ['品', '数'],
          ['りんご', 1],
        ],
      }),
      { 'Content-Type': 'application/octet-stream' },
    );
    expect(((await (await ask({ url, mode: 'staged' })).json()) as UploadAnswer).source).toMatchObject({
      name: 'download.xlsx',
      status: 'registered',
    });
    const other = await serveFile('x', 'a\n名前\n');
    const named = (await (await ask({ url: other, filename: '名簿.csv', mode: 'staged' })).json()) as UploadAnswer;
    expect(named.source.name).toBe('名簿.csv');
  });

  it('answers with the job if asked to', async () => {
    const answer = await ask({ url: await serveFile('later.csv', 'a,b\n7,8\n'), async: true });
    expect(answer.status).toBe(202);
    const { job_id } = (await answer.json()) as { job_id: string };
    expect(await world.waitForJob(job_id)).toMatchObject({ status: 'succeeded' });
  });

  it('fetches once under a key', async () => {
    const served = await serve((_request, response) => response.end('k\nkeyed\n'));
    const keyed = { url: `${served.url}/keyed.csv`, mode: 'staged' as const };
    const [first, second] = [await ask(keyed, { 'Idempotency-Key': 'k' }), await ask(keyed, { 'Idempotency-Key': 'k' })];
    expect([first.status, second.status, await second.text()]).toEqual([201, 201, await first.text()]);
    expect(served.asked).toEqual(['/keyed.csv']);
  });

  it('serves the tool of agents', async () => {
    const agent = await connect(world.api.url, world.owner.session);
    const given = { workbook_id: world.workbookId, url: await serveFile('agent.csv', 'x,y\n5,6\n') };
    expect(await agent.call('upload_file', given)).toMatchObject({
      source: { name: 'agent.csv' },
      next_step: expect.stringContaining('list_tables'),
    });
    for (const url of ['http://169.254.169.254/latest/meta-data', 'http://localhost:1/a.csv', 'http://[::ffff:10.0.0.1]/a.csv'])
      expect(await agent.refusal('upload_file', { ...given, url })).toContain('400 url-refused');
    await agent.client.close();
  });
});

describe('ingestUrl refuses', () => {
  const refused: Omit<Refusal, 'detail'> = { status: 400, slug: 'url-refused', fix: /./ };
  it.each([
    ['http://10.0.0.1/a.csv', /not on the public internet/],
    ['http://0x0a000001/a.csv', /not on the public internet/],
    ['http://localhost/a.csv', /localhost/],
    ['http://[::1]/a.csv', /not on the public internet/],
    ['http://user:password@example.com/a.csv', /user name or password/],
    ['http://127.0.0.1:1/a.csv', /could not be reached/],
    ['http://a..b/', /has no address/],
  ])('%s', async (url, detail) => {
    await leavingNothing(world, async () => expectRefusal(await ask({ url }), { ...refused, detail }));
  });

  const answers: [string, RequestListener, Refusal][] = [
    [
      'a redirect',
      (_, answer) => answer.writeHead(302, { Location: 'http://example.com/a.csv' }).end(),
      { ...refused, detail: /redirects/ },
    ],
    [
      'a redirect to the inside',
      (_, answer) => answer.writeHead(307, { Location: 'http://10.0.0.1/' }).end(),
      { ...refused, detail: /redirects/ },
    ],
    ['a file that is not there', (_, answer) => answer.writeHead(404).end('a,b'), { ...refused, detail: /status 404/ }],
    ['an empty answer', (_, answer) => answer.writeHead(204).end(), { ...refused, detail: /status 204/ }],
    [
      'an answer that breaks off',
      (_, answer) => answer.writeHead(200, { 'Content-Length': '9' }).write('a,b', () => answer.destroy()),
      { ...refused, detail: /broke off/ },
    ],
    [
      'a page',
      (_, answer) => answer.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><p>Log in'),
      { status: 415, slug: 'unsupported-media', detail: /./, fix: /./ },
    ],
    [
      'a gigabyte that is announced',
      (_, answer) => answer.writeHead(200, { 'Content-Length': String(2 ** 30) }).write('a'),
      { status: 413, slug: 'too-large', detail: /100 MiB/, fix: /Split/ },
    ],
    ['an endless file', pourForever, { status: 413, slug: 'too-large', detail: /100 MiB/, fix: /Split/ }],
  ];
  it.each(answers)('%s', async (_, listener, refusal) => {
    const { url } = await serve(listener);
    await leavingNothing(world, async () => expectRefusal(await ask({ url: `${url}/a` }), refusal));
  });

  it.each([
    { url: 'ftp://example.com/a.csv' },
    { url: 'file:///etc/passwd' },
    { url: '' },
    { url: 'http://example.com', mode: 'staged', async: true },
  ])('%j as no valid request', async (body) => {
    await leavingNothing(world, async () =>
      expectRefusal(await ask(body as never), { status: 422, slug: 'validation-failed', detail: /./, fix: /./ }),
    );
  });
});
