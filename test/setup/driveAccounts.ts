import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** What a test puts into a drive. */
export interface DriveItem {
  id: string;
  name: string;
  /** Id of its folder. */
  parent: string;
  isFolder?: boolean;
  mimeType?: string;
  content?: string | Uint8Array;
  modifiedBy?: string;
  modified?: string;
  /** Stands in the description; the content need not have it. */
  size?: number;
}

/** Somebody's drive at a provider, and how it behaves. */
export interface DriveAccount {
  email: string;
  items: DriveItem[];
  /** On the provider's page the user says no, or leaves out the permission to see files. */
  refuses?: 'all' | 'files';
  /** The user has taken the permission back. */
  isWithdrawn?: boolean;
  /** Answers to the next requests for files, instead of the right ones. */
  instead: { status: number; headers?: Record<string, string>; body?: unknown }[];
  /** Requests for files and tokens, as they came. */
  asked: string[];
  accessTokens: Set<string>;
  refreshTokens: Set<string>;
}

export function makeAccount(items: DriveItem[] = []): DriveAccount {
  const email = `drive.${randomUUID().slice(0, 8)}@example.com`;
  return { email, items, instead: [], asked: [], accessTokens: new Set(), refreshTokens: new Set() };
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  /** JSON unless it is bytes. */
  body?: unknown;
}

export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  const isBytes = typeof body === 'string' || body instanceof Uint8Array;
  response.writeHead(status, { 'Content-Type': isBytes ? 'application/octet-stream' : 'application/json; charset=utf-8', ...headers });
  response.end(isBytes || body === undefined ? body : JSON.stringify(body));
}

interface Code {
  account: DriveAccount;
  challenge: string;
  redirectUri: string;
  scope: string;
}

export const testClient = { id: 'client-of-tests', secret: 'secret of the client of tests' };

/** The authorization server of a provider (RFC 6749, RFC 7636). Whoever is signed in decides on its page. */
export class AuthorizationServer {
  signedIn = makeAccount();
  lifeS = 3599;
  private readonly codes = new Map<string, Code>();
  private readonly accounts = new Set<DriveAccount>();

  constructor(private readonly options: { fileScope: string; required: Record<string, string>; rotates: boolean }) {}

  authorize(query: URLSearchParams): Answer {
    const account = this.signedIn;
    this.accounts.add(account);
    const wanted = { response_type: 'code', client_id: testClient.id, code_challenge_method: 'S256', ...this.options.required };
    const wrong = Object.entries(wanted).find(([name, value]) => query.get(name) !== value);
    if (wrong) return { status: 400, body: { error: 'invalid_request', error_description: `${wrong[0]} is ${query.get(wrong[0])}` } };
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('state', query.get('state') ?? '');
    if (account.refuses === 'all') {
      back.searchParams.set('error', 'access_denied');
      return { status: 302, headers: { Location: back.href } };
    }
    const asked = query.get('scope') ?? '';
    const scope = account.refuses === 'files' ? asked.replace(this.options.fileScope, '').trim() : asked;
    const code = `4/${randomUUID()}`;
    this.codes.set(code, { account, challenge: query.get('code_challenge') ?? '', redirectUri: query.get('redirect_uri') ?? '', scope });
    back.searchParams.set('code', code);
    back.searchParams.set('scope', scope);
    return { status: 302, headers: { Location: back.href } };
  }

  async giveTokens(request: IncomingMessage): Promise<Answer> {
    const form = new URLSearchParams(await text(request));
    const refuse = (error: string, status = 400): Answer => ({ status, body: { error, error_description: 'as documented' } });
    if (form.get('client_id') !== testClient.id || form.get('client_secret') !== testClient.secret) return refuse('invalid_client', 401);
    if (form.get('grant_type') === 'refresh_token') {
      const refreshToken = form.get('refresh_token') ?? '';
      const account = [...this.accounts].find((each) => each.refreshTokens.has(refreshToken));
      account?.asked.push('refresh');
      if (!account || account.isWithdrawn) return refuse('invalid_grant');
      if (this.options.rotates) account.refreshTokens.delete(refreshToken);
      return this.issue(account, form.get('scope') ?? '', this.options.rotates);
    }
    const code = this.codes.get(form.get('code') ?? '');
    this.codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== challenge || code.redirectUri !== form.get('redirect_uri')) return refuse('invalid_grant');
    code.account.isWithdrawn = false;
    return this.issue(code.account, code.scope, true);
  }

  private issue(account: DriveAccount, scope: string, withRefreshToken: boolean): Answer {
    const [accessToken, refreshToken] = [`ya29.${randomUUID()}`, `1//${randomUUID()}`];
    account.accessTokens.add(accessToken);
    if (withRefreshToken) account.refreshTokens.add(refreshToken);
    const body = { access_token: accessToken, expires_in: this.lifeS, scope, token_type: 'Bearer' };
    return { status: 200, body: withRefreshToken ? { ...body, refresh_token: refreshToken } : body };
  }

  findAccount(request: IncomingMessage): DriveAccount | undefined {
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    return [...this.accounts].find((account) => account.accessTokens.has(token) && !account.isWithdrawn);
  }
}
