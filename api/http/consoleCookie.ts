import { unauthenticated } from '../../activities/identity/refusals.ts';

/**
 * The session of the console's page. It is in a cookie that scripts cannot read, so a script that got into the page could not
 * carry it away. Browsers add a cookie by themselves, so who asks is looked at before it is taken: a page of this origin, with a
 * header that no form and no picture can send.
 */

const name = 'svc_console';
const ticketName = 'svc_oidc';
const attributes = 'HttpOnly; SameSite=Strict; Path=/api';

type ReadHeader = (header: string) => string | null;

/** The session token in the cookie; null if there is none. Refuses requests that another page has caused. */
export function readConsoleCookie(header: ReadHeader, publicUrl: string): string | null {
  const token = findCookie(header, name);
  if (token === null) return null;
  requireConsolePage(header, publicUrl);
  return token;
}

/** What was kept in the browser when its log-in at the identity provider began. */
export const readTicketCookie = (header: ReadHeader): string | null => findCookie(header, ticketName);

function findCookie(header: ReadHeader, wanted: string): string | null {
  const pairs = (header('Cookie') ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${wanted}=`))?.slice(wanted.length + 1) || null;
}

/** Refuses what does not come from the console's own page. */
export function requireConsolePage(header: ReadHeader, publicUrl: string): void {
  const site = header('Sec-Fetch-Site');
  const origin = header('Origin');
  // Browsers leave out the first on plain HTTP to other machines, and the second where a page of the same origin reads.
  const isOwn = (!site || site === 'same-origin') && (!origin || isOwnOrigin(origin, header('Host'), publicUrl));
  if (isOwn && header('X-SVC-Console') === '1') return;
  throw unauthenticated('The session of the console is taken from its own page only.', 'Programs send a token: Authorization: Bearer.');
}

function isOwnOrigin(origin: string, host: string | null, publicUrl: string): boolean {
  return URL.canParse(origin) && (new URL(origin).host === host || origin === new URL(publicUrl).origin);
}

export function writeConsoleCookie(token: string, expiresAt: Date, publicUrl: string): Record<string, string> {
  return { 'Set-Cookie': `${name}=${token}; ${attributes}${secure(publicUrl)}; Expires=${expiresAt.toUTCString()}` };
}

export function dropConsoleCookie(publicUrl: string): Record<string, string> {
  return { 'Set-Cookie': `${name}=; ${attributes}${secure(publicUrl)}; Max-Age=0` };
}

export function writeTicketCookie(ticket: string, minutes: number, publicUrl: string): Record<string, string> {
  return { 'Set-Cookie': `${ticketName}=${ticket}; ${attributes}${secure(publicUrl)}; Max-Age=${minutes * 60}` };
}

const secure = (publicUrl: string) => (publicUrl.startsWith('https:') ? '; Secure' : '');
