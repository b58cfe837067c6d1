import type { DriveConfig } from '../config.ts';
import type { Outbound } from '../outbound/openOutbound.ts';
import { callDriveJson } from './callDrive.ts';
import { DriveFailure, type DriveTokens } from './drive.ts';

interface TokenAnswer {
  access_token?: unknown;
  refresh_token?: unknown;
  expires_in?: unknown;
  scope?: unknown;
}

/** OAuth 2.0 with PKCE (RFC 6749, RFC 7636), as both providers speak it. */
export function makeOauth(outbound: Outbound, config: DriveConfig, asked: { scope: string; parameters: Record<string, string> }) {
  const client = { client_id: config.clientId, client_secret: config.clientSecret };
  const askTokens = async (form: Record<string, string>): Promise<DriveTokens> => {
    const answer = await callDriveJson<TokenAnswer>(outbound, config.tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ ...client, ...form }).toString(),
    });
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope } = answer;
    if (typeof accessToken !== 'string') throw new DriveFailure('unavailable');
    return {
      accessToken,
      refreshToken: typeof refreshToken === 'string' ? refreshToken : null,
      expiresAt: new Date(Date.now() + (Number(expiresIn) || 3600) * 1000),
      scopes: typeof scope === 'string' ? scope.split(/\s+/).filter(Boolean) : [],
    };
  };
  return {
    buildAuthorizeUrl({ state, challenge }: { state: string; challenge: string }): string {
      const url = new URL(config.authorizeUrl);
      const parameters = {
        response_type: 'code',
        client_id: config.clientId,
        redirect_uri: config.redirectUrl,
        scope: asked.scope,
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...asked.parameters,
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },
    exchange: ({ code, verifier }: { code: string; verifier: string }) =>
      askTokens({ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: config.redirectUrl }),
    refresh: (refreshToken: string) => askTokens({ grant_type: 'refresh_token', refresh_token: refreshToken, scope: asked.scope }),
  };
}
