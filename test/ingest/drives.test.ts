import { describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { beginConnection, connectDrive, readAuthorization } from '../setup/connectDrive.ts';
import { mintToken } from '../setup/credentials.ts';
import { type DriveItem, makeAccount } from '../setup/driveAccounts.ts';
import { google, microsoft } from '../setup/driveServers.ts';
import { expectRefusal, leavingNothing, type Refusal } from './leftovers.ts';
import { makeNewFile, namesOf, type UploadAnswer, useWorld } from './world.ts';

type Provider = components['schemas']['DriveProvider'];
type List = components['schemas']['CloudFileList'];

const world = await useWorld();
const { api } = world;
const providers = ['google_drive', 'onedrive'] as const;
const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Somebody of their own, with a workbook and a drive that the service may read. */
async function makeDriver(provider: Provider, items: DriveItem[] = []) {
  const person = await api.signUp();
  const account = makeAccount(items);
  const begin = () => beginConnection(api, person.session, provider, account);
  const connect = () => connectDrive(api, person.session, provider, account);
  await connect();
  const { id: workbookId } = (await person.client.POST('/api/v1/workbooks', { body: { title: '取込' } })).data as { id: string };
  const list = (query = '') => api.fetch(`/api/v1/cloud-files/${provider}${query}`, { token: person.session });
  const bring = (fileId: string, filename: string, headers: Record<string, string> = {}) =>
    api.fetch(`/api/v1/workbooks/${workbookId}/sources/cloud`, {
      method: 'POST',
      token: person.session,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ provider, file_id: fileId, filename }),
    });
  return { person, account, begin, connect, list, bring, authorization: () => readAuthorization(api, person.session, provider) };
}

const readList = async (answer: Response) => {
  expect(answer.status).toBe(200);
  return (await answer.json()) as List;
};
const notAllowed: Refusal = { status: 403, slug: 'outside-reach', detail: /may not read the drive/, fix: /authorize/ };
const away: Refusal = { status: 503, slug: 'unavailable', detail: /drive/, fix: /later/ };

describe.each(providers)('an authorization at %s', (provider) => {
  const server = provider === 'google_drive' ? google : microsoft;

  it('begins on the page of the provider, and ends on ours', async () => {
    const person = await api.signUp();
    const account = makeAccount();
    expect(await readAuthorization(api, person.session, provider)).toMatchObject({ provider, authorized: false, account_email: null });
    const page = await api.fetch(await beginConnection(api, person.session, provider, account));
    expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    const text = await page.text();
    expect([text.includes(account.email), text.includes(person.email)]).toEqual([true, true]);
    expect(await readAuthorization(api, person.session, provider)).toEqual({
      provider,
      authorized: true,
      authorize_url: null,
      account_email: account.email,
    });
    const stored = await api.sql.query('SELECT tokens FROM drive_grants WHERE user_id = $1', [person.userId]);
    for (const token of [...account.accessTokens, ...account.refreshTokens])
      expect((stored.rows[0] as { tokens: Buffer }).tokens.includes(Buffer.from(token))).toBe(false);
    const { rows } = await api.sql.query("SELECT action FROM audit_entries WHERE target = $1 AND action LIKE 'drive%'", [person.userId]);
    expect(rows).toEqual([{ action: 'drive.authorized' }]);
  });

  it('is not changed by a forged, foreign, late or repeated state', async () => {
    const { account, begin, person } = await makeDriver(provider);
    account.isWithdrawn = true;
    account.accessTokens.clear();
    await expectRefusal(await api.fetch(`/api/v1/cloud-files/${provider}`, { token: person.session }), notAllowed);
    const callback = new URL(await begin(), api.url);
    const send = (change: (query: URLSearchParams) => void, path = callback.pathname) => {
      const query = new URLSearchParams(callback.searchParams);
      change(query);
      return api.fetch(`${path}?${query}`);
    };
    const state = callback.searchParams.get('state') ?? '';
    const forged: Refusal = { status: 403, slug: 'bad-signature', detail: /not begun here/, fix: /Begin again/ };
    for (const wrong of [
      'x',
      state.slice(0, -4),
      `${state.slice(0, 20)}${state[20] === 'A' ? 'B' : 'A'}${state.slice(21)}`,
      Buffer.alloc(200).toString('base64url'),
    ])
      await expectRefusal(await send((query) => query.set('state', wrong)), forged);
    const other = provider === 'google_drive' ? 'onedrive' : 'google_drive';
    await expectRefusal(await send(() => {}, `/api/oauth/${other}/callback`), forged);
    await expectRefusal(await send((query) => query.delete('code')), {
      status: 422,
      slug: 'validation-failed',
      detail: /code/,
      fix: /again/,
    });
    await expectRefusal(await send((query) => query.set('code', 'made up')), {
      status: 422,
      slug: 'validation-failed',
      detail: /code/,
      fix: /again/,
    });
    expect((await readAuthorization(api, person.session, provider)).authorized).toBe(false);
    expect((await send(() => {})).status).toBe(200);
    await expectRefusal(await send(() => {}), { status: 410, slug: 'expired', detail: /finished before/, fix: /Begin again/ });
  });

  it('of another user does not take the code of the first', async () => {
    const account = makeAccount();
    const [one, two] = [await api.signUp(), await api.signUp()];
    const mine = new URL(await beginConnection(api, one.session, provider, account), api.url);
    const theirs = new URL(await beginConnection(api, two.session, provider, makeAccount()), api.url);
    theirs.searchParams.set('code', mine.searchParams.get('code') ?? '');
    expect((await api.fetch(`${theirs.pathname}${theirs.search}`)).status).toBe(422);
    expect((await readAuthorization(api, two.session, provider)).authorized).toBe(false);
  });

  it.each(['all', 'files'] as const)('that the user refuses (%s) leaves things as they are', async (refuses) => {
    const person = await api.signUp();
    const page = await api.fetch(await beginConnection(api, person.session, provider, { ...makeAccount(), refuses }));
    expect([page.status, (await page.text()).includes('not connected')]).toEqual([200, true]);
    expect((await readAuthorization(api, person.session, provider)).authorized).toBe(false);
  });

  it('ends with the credential that began it', async () => {
    const person = await api.signUp();
    const token = await mintToken(person.client, { scopes: ['cloud-files:read'] });
    const callback = await beginConnection(api, token.text, provider, makeAccount());
    await person.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: token.id } } });
    await expectRefusal(await api.fetch(callback), { status: 410, slug: 'expired', detail: /no access any more/, fix: /./ });
  });

  it('is renewed when a token has ended, by its time or by the word of the provider', async () => {
    server.lifeS = 1;
    const driver = await makeDriver(provider);
    server.lifeS = 3599;
    await readList(await driver.list());
    expect(driver.account.asked.filter((each) => each === 'refresh')).toHaveLength(1);
    driver.account.accessTokens.clear();
    await Promise.all([driver.list(), driver.list()].map(async (answer) => readList(await answer)));
    expect((await driver.authorization()).authorized).toBe(true);
  });

  it('is over when the user has taken it back at the provider, until it is given again', async () => {
    const driver = await makeDriver(provider, [{ id: 'a', name: 'a.csv', parent: 'root', content: 'a\n1\n' }]);
    driver.account.isWithdrawn = true;
    await leavingNothing(world, async () => expectRefusal(await driver.bring('a', 'a.csv'), notAllowed));
    const { authorized, authorize_url } = await driver.authorization();
    expect([authorized, authorize_url]).toEqual([false, expect.stringContaining('code_challenge=')]);
    await driver.connect();
    expect((await readList(await driver.list())).files.map(({ name }) => name)).toEqual(['a.csv']);
  });
});

describe.each(providers)('the files of %s', (provider) => {
  const folder = (id: string, name: string, parent = 'root'): DriveItem => ({ id, name, parent, isFolder: true });
  const file = (id: string, name: string, parent = 'root', more: Partial<DriveItem> = {}): DriveItem => ({
    id,
    name,
    parent,
    content: id,
    ...more,
  });

  it('are listed page by page, folders first, what can be imported alone', async () => {
    const items = [
      ...['c', 'a', 'e'].map((name) => folder(`f${name}`, `${name} folder`)),
      ...['b', 'd', 'f'].map((name) => file(`x${name}`, `${name}.xlsx`, 'root', { mimeType: xlsx, modifiedBy: '佐藤' })),
      file('p', 'a.pdf', 'root', { mimeType: 'application/pdf' }),
      file('in', 'inside.csv', 'fa'),
    ];
    const { list } = await makeDriver(provider, items);
    const names = ['a folder', 'c folder', 'e folder', 'b.xlsx', 'd.xlsx', 'f.xlsx'];
    const whole = await readList(await list());
    expect([whole.files.map(({ name }) => name), whole.next_cursor, whole.folder_id]).toEqual([names, null, 'root']);
    expect(whole.files[3]).toEqual({
      id: 'xb',
      name: 'b.xlsx',
      isFolder: false,
      mime_type: xlsx,
      size: 2,
      modified_at: '2026-01-02T03:04:05.000Z',
      modified_by: '佐藤',
    });
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: List = await readList(await list(`?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`));
      seen.push(...page.files.map(({ name }) => name));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(names);
    expect((await readList(await list('?folder_id=fa'))).files.map(({ name }) => name)).toEqual(['inside.csv']);
  });

  it('are not listed for what was not given out here', async () => {
    const { list } = await makeDriver(
      provider,
      Array.from({ length: 5 }, (_, i) => file(`i${i}`, `${i}.csv`)),
    );
    const other = await makeDriver(provider);
    const { next_cursor } = await readList(await list('?limit=2'));
    const invalid: Refusal = { status: 422, slug: 'validation-failed', detail: /cursor/, fix: /./ };
    for (const cursor of ['x', Buffer.alloc(80).toString('base64url'), Buffer.from('http://169.254.169.254/').toString('base64url')])
      await expectRefusal(await list(`?cursor=${cursor}`), invalid);
    await expectRefusal(await other.list(`?cursor=${next_cursor}`), invalid);
    await expectRefusal(await list(`?folder_id=i1&cursor=${next_cursor}`), invalid);
    for (const id of ['nowhere', '../me', "' or 'x' in parents", 'a/b?c#d'])
      await expectRefusal(await list(`?folder_id=${encodeURIComponent(id)}`), { status: 404, slug: 'not-found', detail: /./, fix: /./ });
  });

  it('become sources, whose provenance says where they were', async () => {
    const content = await makeNewFile();
    const { bring } = await makeDriver(provider, [file('one', '売上.xlsx', 'root', { mimeType: xlsx, content })]);
    const answer = await bring('one', '売上.xlsx', { 'Idempotency-Key': 'once' });
    const body = (await answer.json()) as UploadAnswer;
    expect([answer.status, body.source.name, namesOf(body).length > 0]).toEqual([201, '売上.xlsx', true]);
    expect(body.source.provenance).toEqual({ kind: 'cloud', provider, file_id: 'one', at: expect.any(String) });
    expect((await bring('one', '売上.xlsx', { 'Idempotency-Key': 'once' })).status).toBe(201);
    expect((await bring('one', '売上.xlsx')).status).toBe(200);
  });

  it('that have vanished, are no spreadsheets or are too large are refused', async () => {
    const { bring } = await makeDriver(provider, [
      folder('dir', 'dir'),
      file('pdf', 'a.pdf', 'root', { content: '%PDF-1.7', mimeType: 'application/pdf' }),
      file('big', 'big.csv', 'root', { content: 'a', size: 200 * 1024 * 1024 }),
      file('vast', 'vast.csv', 'root', { content: Buffer.alloc(100 * 1024 * 1024 + 1, 'a'), size: 10 }),
    ]);
    const media = { status: 415, slug: 'unsupported-media', detail: /./, fix: /./ };
    const tooLarge = { status: 413, slug: 'too-large', detail: /100 MiB/, fix: /./ };
    const cases: [string, string, Refusal][] = [
      ['gone', 'gone.csv', { status: 404, slug: 'not-found', detail: /file on the drive/, fix: /cloud-files/ }],
      ['../../me', 'me.json', { status: 404, slug: 'not-found', detail: /file on the drive/, fix: /./ }],
      ['dir', 'dir.xlsx', media],
      ['pdf', 'a.pdf', media],
      ['pdf', 'a.xlsx', media],
      ['big', 'big.csv', tooLarge],
      ['vast', 'vast.csv', tooLarge],
    ];
    for (const [id, name, refusal] of cases) await leavingNothing(world, async () => expectRefusal(await bring(id, name), refusal));
  });

  it('come a little later when the provider asks for patience, and are given up when it asks for much', async () => {
    const { account, list } = await makeDriver(provider, [file('a', 'a.csv')]);
    const busy = (seconds: string) => ({
      status: 429,
      headers: { 'Retry-After': seconds },
      body: { error: { code: 'activityLimitReached' } },
    });
    account.instead.push(busy('0'), { status: 503, headers: { 'Retry-After': '0' } });
    expect((await readList(await list())).files).toHaveLength(1);
    account.instead.push(busy('77'));
    const answer = await list();
    expect(answer.headers.get('retry-after')).toBe('77');
    await expectRefusal(answer, { ...away, detail: /no more requests/ });
    account.instead.push({ status: 200, body: 'no JSON' });
    await expectRefusal(await list(), away);
    account.instead.push({ status: 403, body: { error: { errors: [{ reason: 'insufficientFilePermissions' }], code: 403 } } });
    await expectRefusal(await list(), { status: 404, slug: 'not-found', detail: /./, fix: /./ });
  });

  it('are refused to a token without the scope', async () => {
    const { person } = await makeDriver(provider);
    const { text } = await mintToken(person.client, { scopes: ['workbooks:read'] });
    const answer = await api.fetch(`/api/v1/cloud-files/${provider}`, { token: text });
    await expectRefusal(answer, { status: 403, slug: 'missing-scope', detail: /cloud-files:read/, fix: /./ });
  });
});

describe('google_drive alone', () => {
  it('finds files by a part of their names, in all of the drive or in a folder', async () => {
    const { list } = await makeDriver('google_drive', [
      { id: 'f', name: "2024's", parent: 'root', isFolder: true },
      { id: 'a', name: "予算'24.csv", parent: 'f', content: 'a' },
      { id: 'b', name: '実績.csv', parent: 'root', content: 'b' },
    ]);
    const find = async (query: string) => (await readList(await list(query))).files.map(({ id }) => id);
    expect(await find(`?q=${encodeURIComponent("算'2")}`)).toEqual(['a']);
    expect(await find(`?q=${encodeURIComponent("') or name contains ('")}`)).toEqual([]);
    expect(await find(`?q=${encodeURIComponent('実績')}&folder_id=f`)).toEqual([]);
  });

  it('hands out sheets as workbooks, and no other documents', async () => {
    const { bring, account } = await makeDriver('google_drive', [
      { id: 's', name: '予算', parent: 'root', mimeType: 'application/vnd.google-apps.spreadsheet', content: await makeNewFile() },
      { id: 'd', name: 'Letter', parent: 'root', mimeType: 'application/vnd.google-apps.document' },
    ]);
    expect((await bring('s', '予算.xlsx')).status).toBe(201);
    await expectRefusal(await bring('d', 'letter.xlsx'), { status: 415, slug: 'unsupported-media', detail: /no spreadsheet/, fix: /./ });
    account.instead.push(
      { status: 200, body: { id: 's', name: '予算', mimeType: 'application/vnd.google-apps.spreadsheet' } },
      { status: 403, body: { error: { code: 403, errors: [{ reason: 'exportSizeLimitExceeded' }] } } },
    );
    await expectRefusal(await bring('s', 'large.xlsx'), { status: 413, slug: 'too-large', detail: /size/, fix: /./ });
    account.instead.push({
      status: 403,
      headers: { 'Retry-After': '60' },
      body: { error: { code: 403, errors: [{ reason: 'userRateLimitExceeded' }] } },
    });
    await expectRefusal(await bring('s', 'busy.xlsx'), away);
  });
});

describe('onedrive alone', () => {
  it('is not searched by name', async () => {
    const { list } = await makeDriver('onedrive');
    await expectRefusal(await list('?q=a'), { status: 422, slug: 'validation-failed', detail: /searched/, fix: /q/ });
  });

  it('is not followed to where its answers lead astray', async () => {
    const { list, bring, account } = await makeDriver('onedrive', [{ id: 'a', name: 'a.csv', parent: 'root', content: 'a' }]);
    account.instead.push({ status: 200, body: { value: [], '@odata.nextLink': 'http://127.0.0.1:1/steal' } });
    await expectRefusal(await list(), away);
    const described = { status: 200, body: { id: 'a', name: 'a.csv', size: 1, file: {} } };
    account.instead.push(described, { status: 302, headers: { Location: 'http://169.254.169.254/latest/meta-data' } });
    await leavingNothing(world, async () => expectRefusal(await bring('a', 'a.csv'), away));
  });
});

describe('a provider', () => {
  it('that is not set up or not known says so', async () => {
    const bare = await api.another({ SVC_GOOGLE_CLIENT_ID: '', SVC_ONEDRIVE_CLIENT_ID: '' });
    const token = world.owner.session;
    for (const path of ['/api/v1/me/authorize/google_drive', '/api/v1/cloud-files/onedrive', '/api/oauth/onedrive/callback?state=x'])
      await expectRefusal(await bare.fetch(path, { token }), {
        status: 501,
        slug: 'not-configured',
        detail: /not set up/,
        fix: /operator/,
      });
    for (const path of ['/api/v1/me/authorize/dropbox', '/api/v1/cloud-files/dropbox', '/api/oauth/dropbox/callback?state=x'])
      await expectRefusal(await api.fetch(path, { token }), { status: 422, slug: 'validation-failed', detail: /provider/, fix: /./ });
    await bare.stop();
  });
});
