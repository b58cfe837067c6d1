import { describe, expect, it } from 'vitest';
import { mintKey, mintToken } from '../setup/credentials.ts';
import { useWorkbook } from '../tables/tableDriver.ts';

/** What refusals say, word by word: what is wrong, and what to do. */

const { api, world } = await useWorkbook();
const { owner } = world;
await world.makeTable('t', [{ name: 'a' }]);
const [token, key] = [(await mintToken(owner.client)).text, (await mintKey(owner.client)).text];
const table = `/api/v1/workbooks/${world.workbookId}/tables/t`;

const anyKind = 'a personal access token or an account key or a session token';

interface Sent {
  method?: string;
  token?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

async function send(path: string, { body, headers, ...init }: Sent) {
  const type = { 'Content-Type': 'application/json' };
  const answer = await api.fetch(path, {
    ...init,
    headers: { ...(body === undefined ? {} : type), ...headers },
    ...(body === undefined ? {} : { method: init.method ?? 'POST', body: JSON.stringify(body) }),
  });
  const problem = (await answer.json()) as { type: string; detail: string; suggested_fix: string; errors?: unknown };
  return { ...problem, slug: problem.type.replace('urn:svc:problem:', '') };
}

describe('a refused credential', () => {
  it.each([
    ['/api/v1/me', {}, 'The request carries no credential.', anyKind],
    ['/api/control/accounts', {}, 'The request carries no credential.', 'a session token or an account key'],
    ['/api/auth/logout', { method: 'POST' }, 'The request carries no credential.', 'a session token'],
    ['/api/v1/me', { headers: { Authorization: 'Basic dXNlcjpwYXNz' } }, 'The Authorization header is not Bearer and a token.', anyKind],
    ['/api/control/accounts', { token }, 'This operation does not take a personal access token.', 'a session token or an account key'],
    ['/api/auth/logout', { method: 'POST', token: key }, 'This operation does not take an account key.', 'a session token'],
    ['/api/auth/logout', { method: 'POST', token: 'nonsense' }, 'The token is not one of ours.', 'a session token'],
    ['/api/auth/logout', { method: 'POST', token: `${token}x` }, 'The token is not known.', 'a session token'],
  ])('of %s %j names the kind that is taken', async (path, sent, detail, kinds) => {
    expect(await send(path, sent)).toMatchObject({
      slug: 'unauthenticated',
      detail,
      suggested_fix: `Send Authorization: Bearer with ${kinds}.`,
    });
  });

  it('that is a password is not answered with advice about tokens', async () => {
    const problem = await send('/api/auth/login', { body: { email: owner.email, password: 'wrong horse battery' } });
    expect(problem).toMatchObject({
      slug: 'unauthenticated',
      detail: 'The e-mail or the password is wrong.',
      suggested_fix: 'Check both and log in again.',
    });
  });
});

describe('a name with blanks at its ends', () => {
  const workbook = `/api/v1/workbooks/${world.workbookId}`;
  const columns = [{ name: 'a' }];
  it.each([
    ['/api/v1/workbooks', { body: { title: ' 決算' } }, '/title'],
    [workbook, { method: 'PATCH', body: { title: '決算\u3000' } }, '/title'],
    [`${workbook}/tables`, { body: { name: 'x ', columns } }, '/name'],
    [`${workbook}/tables`, { body: { name: 'x', columns: [{ name: '\ta' }] } }, '/columns/0/name'],
    [`${table}/columns`, { body: { column: ' b', expected_version: null } }, '/column'],
    [`${table}/columns/a`, { method: 'PATCH', body: { new_name: 'b ', expected_version: null } }, '/new_name'],
    [`${workbook}/versions`, { body: { label: ' v' } }, '/label'],
    [`${workbook}/uploads`, { body: { filename: ' a.csv' } }, '/filename'],
    ['/api/control/workspaces', { body: { name: 'team ' } }, '/name'],
    ['/api/control/accounts', { body: { name: ' firm' } }, '/name'],
    ['/api/v1/me/tokens', { body: { name: 'ci ' } }, '/name'],
    ['/api/control/account/keys', { body: { name: ' ci', scopes: ['workbooks:read'], rate_limit_per_minute: 60 } }, '/name'],
  ])('%s %j is refused, not changed', async (path, sent, pointer) => {
    const problem = await send(path, { token: owner.session, ...sent });
    expect(problem).toMatchObject({ slug: 'validation-failed', errors: [{ pointer, detail: 'begins or ends with a blank' }] });
  });
});

describe('a name with a control character', () => {
  const workbook = `/api/v1/workbooks/${world.workbookId}`;
  const columns = [{ name: 'a' }];
  it.each([
    ['/api/v1/workbooks', { body: { title: '決\n算' } }, '/title'],
    [`${workbook}/tables`, { body: { name: 'x\u001b[31m', columns } }, '/name'],
    [`${workbook}/tables`, { body: { name: 'x', columns: [{ name: 'a\tb' }] } }, '/columns/0/name'],
    [`${table}/columns`, { body: { column: 'b\u0085c', expected_version: null } }, '/column'],
    [`${workbook}/versions`, { body: { label: 'v\u20281' } }, '/label'],
    ['/api/control/workspaces', { body: { name: 'te\ram' } }, '/name'],
    ['/api/control/accounts', { body: { name: 'fi\u007frm' } }, '/name'],
    ['/api/v1/me/tokens', { body: { name: 'c\u0001i' } }, '/name'],
    ['/api/auth/signup', { body: { email: 'control@example.com', password: 'correct horse battery', name: 'a\nb' } }, '/name'],
  ])('%s %j is refused', async (path, sent, pointer) => {
    const problem = await send(path, { token: owner.session, ...sent });
    const detail = 'contains a control character, such as a line break or a tab';
    expect(problem).toMatchObject({ slug: 'validation-failed', errors: [{ pointer, detail }] });
  });
});

describe('a name with a character that nobody sees', () => {
  const workbook = `/api/v1/workbooks/${world.workbookId}`;
  it.each([
    ['/api/v1/workbooks', { body: { title: '決\u200b算' } }, '/title', 'contains U+200B, which nobody sees'],
    ['/api/v1/workbooks', { body: { title: '\u200d\ufe0f' } }, '/title', 'must not be blank'],
    [`${workbook}/tables`, { body: { name: 'x\u202excod.exe', columns: [{ name: 'a' }] } }, '/name', 'contains U+202E, which nobody sees'],
    [
      `${workbook}/tables`,
      { body: { name: 'x', columns: [{ name: 'a\u2066b' }] } },
      '/columns/0/name',
      'contains U+2066, which nobody sees',
    ],
    [`${workbook}/uploads`, { body: { filename: 'a\u202evsc.csv' } }, '/filename', 'contains U+202E, which nobody sees'],
    [`${table}/columns`, { body: { column: 'b', expected_version: null, actor: '佐\u0007藤' } }, '/actor', 'contains a control character'],
  ])('%s %j is refused', async (path, sent, pointer, detail) => {
    const problem = await send(path, { token: owner.session, ...sent });
    expect(problem).toMatchObject({ slug: 'validation-failed', errors: [{ pointer, detail: expect.stringContaining(detail) }] });
  });

  it('is taken where words need it', async () => {
    for (const title of ['می\u200cخواهم', '葛\u{e0100}城', '👩\u200d💻', 'שלום\u200f!']) {
      const answer = await api.fetch('/api/v1/workbooks', {
        method: 'POST',
        token: owner.session,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ title }),
      });
      expect([answer.status, await answer.json()]).toMatchObject([201, { title }]);
    }
  });
});

describe('a table name that could be taken for an id', () => {
  const id = 'tbl_01ARZ3NDEKTSV4RRFFQ69G5FAV';
  it.each([id, id.toLowerCase(), id.toUpperCase()])('%s is refused', async (name) => {
    const sent = { token: owner.session, body: { name, columns: [{ name: 'a' }] } };
    const problem = await send(`/api/v1/workbooks/${world.workbookId}/tables`, sent);
    expect(problem).toMatchObject({ slug: 'validation-failed', errors: [{ pointer: '/name', detail: 'has the form of a table id' }] });
  });
});

describe('a missing expected_version', () => {
  const detail = 'is required: the edit_version that you read, or null to write without a check';
  it.each([
    [`${table}/rows`, { body: { rows: [{ a: 'x' }] } }, '/expected_version'],
    [`${table}/rows/delete`, { body: { row_ids: [1] } }, '/expected_version'],
    [`${table}/range`, { method: 'PUT', body: { range: 'A2', values: [['x']] } }, '/expected_version'],
    [table, { method: 'DELETE' }, '/query/expected_version'],
  ])('of %s says what null means', async (path, sent, pointer) => {
    const problem = await send(path, { token: owner.session, ...sent });
    expect(problem).toMatchObject({ slug: 'validation-failed', errors: [{ pointer, detail }] });
  });
});
