import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, AuthorizationServer, type DriveAccount, type DriveItem, sendAnswer, testClient } from './driveAccounts.ts';

const googleTypes = { folder: 'application/vnd.google-apps.folder', sheet: 'application/vnd.google-apps.spreadsheet' };
const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

export const google = new AuthorizationServer({
  fileScope: 'https://www.googleapis.com/auth/drive.readonly',
  required: { access_type: 'offline', prompt: 'consent' },
  rotates: false,
});
export const microsoft = new AuthorizationServer({ fileScope: 'Files.Read', required: { response_mode: 'query' }, rotates: true });

const byName = (a: DriveItem, b: DriveItem) => (a.name < b.name ? -1 : 1);
const bytesOf = ({ content = '' }: DriveItem) => Buffer.from(content as string);

const googleError = (code: number, reason: string, message: string): Answer => ({
  status: code,
  body: { error: { errors: [{ domain: 'global', reason, message }], code, message } },
});

/** Google Drive, version 3, as its reference describes it. */
function answerGoogle(account: DriveAccount, { pathname, searchParams }: URL): Answer {
  const path = pathname.replace('/drive/v3', '');
  const show = (item: DriveItem) => ({
    id: item.id,
    name: item.name,
    mimeType: item.isFolder ? googleTypes.folder : (item.mimeType ?? 'application/octet-stream'),
    ...(item.content === undefined || item.mimeType === googleTypes.sheet
      ? {}
      : { size: String(item.size ?? bytesOf(item).length), headRevisionId: `r${bytesOf(item).length}` }),
    modifiedTime: item.modified ?? '2026-01-02T03:04:05.000Z',
    lastModifyingUser: { displayName: item.modifiedBy ?? '鈴木' },
    version: '7',
  });
  if (path === '/about')
    return searchParams.has('fields')
      ? { status: 200, body: { user: { emailAddress: account.email } } }
      : googleError(400, 'required', 'The "fields" parameter is required for this method.');
  if (path === '/files') {
    const q = searchParams.get('q') ?? '';
    const read = (pattern: RegExp) => pattern.exec(q)?.[1]?.replace(/\\(.)/g, '$1');
    const parent = read(/'((?:[^'\\]|\\.)*)' in parents/);
    const part = read(/name contains '((?:[^'\\]|\\.)*)'/);
    if (parent !== undefined && parent !== 'root' && !account.items.some(({ id }) => id === parent))
      return googleError(404, 'notFound', 'File not found: .');
    const found = account.items
      .filter((item) => (parent === undefined || item.parent === parent) && (part === undefined || item.name.includes(part)))
      .sort((a, b) => Number(b.isFolder ?? false) - Number(a.isFolder ?? false) || byName(a, b));
    const from = Number(searchParams.get('pageToken') ?? 0);
    const until = from + Number(searchParams.get('pageSize') ?? 100);
    return {
      status: 200,
      body: { files: found.slice(from, until).map(show), ...(until < found.length ? { nextPageToken: String(until) } : {}) },
    };
  }
  const [, id = '', action] = /^\/files\/([^/]+)(\/export)?$/.exec(path) ?? [];
  const item = account.items.find((each) => each.id === decodeURIComponent(id));
  if (!item) return googleError(404, 'notFound', `File not found: ${id}.`);
  if (action) {
    if (item.mimeType !== googleTypes.sheet) return googleError(403, 'fileNotExportable', 'Export only supports Docs Editors files.');
    return searchParams.get('mimeType') === xlsxType
      ? { status: 200, body: bytesOf(item) }
      : googleError(400, 'badRequest', 'The requested conversion is not supported.');
  }
  if (searchParams.get('alt') !== 'media') return { status: 200, body: show(item) };
  return item.mimeType?.startsWith('application/vnd.google-apps.')
    ? googleError(403, 'fileNotDownloadable', 'Only files with binary content can be downloaded.')
    : { status: 200, body: bytesOf(item) };
}

const graphError = (status: number, code: string): Answer => ({
  status,
  body: { error: { code, message: 'as documented', innerError: {} } },
});

/** Files whose bytes may be fetched without a token for some minutes. */
const downloads = new Map<string, DriveItem>();

/** Microsoft Graph, version 1.0, as its reference describes it. */
function answerGraph(account: DriveAccount, { origin, pathname, searchParams }: URL): Answer {
  const path = pathname.replace('/v1.0', '');
  const show = (item: DriveItem) => ({
    id: item.id,
    name: item.name,
    size: item.size ?? bytesOf(item).length,
    lastModifiedDateTime: item.modified ?? '2026-01-02T03:04:05Z',
    lastModifiedBy: { user: { displayName: item.modifiedBy ?? '鈴木' } },
    eTag: `"{${item.id}},2"`,
    cTag: `"c:{${item.id}},${bytesOf(item).length}"`,
    ...(item.isFolder ? { folder: { childCount: 1 } } : { file: { mimeType: item.mimeType ?? 'application/octet-stream' } }),
  });
  if (path === '/me') return { status: 200, body: { mail: account.email, userPrincipalName: account.email } };
  const [, root, id = '', action] = /^\/me\/drive\/(?:(root)|items\/([^/]+))(\/children|\/content)?$/.exec(path) ?? [];
  const item = account.items.find((each) => each.id === decodeURIComponent(id));
  if (root === undefined && !item) return graphError(404, 'itemNotFound');
  if (action === '/children') {
    const children = account.items.filter(({ parent }) => parent === (item?.id ?? 'root')).sort(byName);
    const top = Number(searchParams.get('$top') ?? 200);
    const from = Number(searchParams.get('$skiptoken') ?? 0);
    const next = new URL(`${origin}${pathname}?${searchParams}`);
    next.searchParams.set('$skiptoken', String(from + top));
    return {
      status: 200,
      body: {
        value: children.slice(from, from + top).map(show),
        ...(from + top < children.length ? { '@odata.nextLink': next.href } : {}),
      },
    };
  }
  if (!item) return { status: 200, body: { id: 'root', name: 'root', folder: { childCount: 1 } } };
  if (action !== '/content') return { status: 200, body: show(item) };
  const key = `${Math.random()}`.slice(2);
  downloads.set(key, item);
  return { status: 302, headers: { Location: `${origin}/preauthenticated/${key}` } };
}

async function answer(request: IncomingMessage): Promise<Answer> {
  const url = new URL(request.url ?? '', `http://${request.headers.host}`);
  const { pathname, searchParams } = url;
  if (pathname === '/google/auth') return google.authorize(searchParams);
  if (pathname === '/google/token') return google.giveTokens(request);
  if (pathname === '/microsoft/authorize') return microsoft.authorize(searchParams);
  if (pathname === '/microsoft/token') return microsoft.giveTokens(request);
  const [, key] = /^\/preauthenticated\/(\d+)$/.exec(pathname) ?? [];
  if (key !== undefined) {
    const item = downloads.get(key);
    return item && request.headers.authorization === undefined ? { status: 200, body: bytesOf(item) } : { status: 401 };
  }
  const isGoogle = pathname.startsWith('/drive/v3/');
  const account = (isGoogle ? google : microsoft).findAccount(request);
  if (!account) return isGoogle ? googleError(401, 'authError', 'Invalid Credentials') : graphError(401, 'InvalidAuthenticationToken');
  account.asked.push(`${pathname}${url.search}`);
  return account.instead.shift() ?? (isGoogle ? answerGoogle : answerGraph)(account, url);
}

const server = createServer((request, response) => {
  answer(request).then(
    (given) => sendAnswer(response, given),
    () => response.destroy(),
  );
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
server.unref();
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** With these the service under test takes them for Google and Microsoft. */
export const driveEnv = {
  SVC_GOOGLE_CLIENT_ID: testClient.id,
  SVC_GOOGLE_CLIENT_SECRET: testClient.secret,
  SVC_GOOGLE_AUTHORIZE_URL: `${origin}/google/auth`,
  SVC_GOOGLE_TOKEN_URL: `${origin}/google/token`,
  SVC_GOOGLE_API_URL: `${origin}/drive/v3`,
  SVC_ONEDRIVE_CLIENT_ID: testClient.id,
  SVC_ONEDRIVE_CLIENT_SECRET: testClient.secret,
  SVC_ONEDRIVE_AUTHORIZE_URL: `${origin}/microsoft/authorize`,
  SVC_ONEDRIVE_TOKEN_URL: `${origin}/microsoft/token`,
  SVC_ONEDRIVE_API_URL: `${origin}/v1.0`,
};

/** Where the provider sends a browser that opens its page: path and query of the callback. */
export async function openProviderPage(authorizeUrl: string): Promise<string> {
  const answered = await fetch(authorizeUrl, { redirect: 'manual' });
  if (answered.status !== 302) throw new Error(`the page was answered ${answered.status}: ${await answered.text()}`);
  const { pathname, search } = new URL(answered.headers.get('location') ?? '');
  return `${pathname}${search}`;
}
