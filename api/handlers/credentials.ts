import { requireAccount } from '../../activities/access.ts';
import { endCredential, requireAccountKey, requireOwnToken } from '../../activities/identity/endCredential.ts';
import { mintCredential } from '../../activities/identity/mintCredential.ts';
import { pageKeys, pageTokens } from '../../activities/identity/pageCredentials.ts';
import { planKey, planToken } from '../../activities/identity/planCredential.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentKey, presentToken } from '../presenters/identity.ts';

type CredentialOperations = 'listTokens' | 'createToken' | 'revokeToken' | 'listKeys' | 'createKey' | 'revokeKey';

export function makeCredentialHandlers({ services }: ApiParts): Handlers<CredentialOperations> {
  return {
    async listTokens({ principal, query }) {
      const page = await pageTokens(services, principal, query);
      return { status: 200, body: { tokens: page.items.map(presentToken), next_cursor: page.nextCursor } };
    },

    async createToken(call) {
      const { body, principal } = call;
      const account = await requireAccount(services, principal, body.account_id);
      const wanted = await planToken(services, principal, account, {
        ...body,
        rateLimitPerMinute: body.rate_limit_per_minute,
        expiresInDays: body.expires_in_days,
      });
      return call.write(
        (tx) => mintCredential(tx, principal, wanted),
        ({ record, text }) => ({ status: 201, body: { ...presentToken(record), token: text } }),
      );
    },

    async revokeToken(call) {
      const token = await requireOwnToken(services, call.principal, call.params.token_id);
      return call.write(
        (tx) => endCredential(tx, token),
        () => ({ status: 204 }),
      );
    },

    async listKeys({ principal, query }) {
      const account = await requireAccount(services, principal, query.account_id);
      const page = await pageKeys(services, principal, account.id, query);
      return { status: 200, body: { keys: page.items.map(presentKey), next_cursor: page.nextCursor } };
    },

    async createKey(call) {
      const { body, principal } = call;
      const account = await requireAccount(services, principal, body.account_id);
      const wanted = await planKey(services, principal, account, {
        name: body.name ?? null,
        scopes: body.scopes,
        workspaceId: body.workspace_id,
        rateLimitPerMinute: body.rate_limit_per_minute,
      });
      return call.write(
        (tx) => mintCredential(tx, principal, wanted),
        ({ record, text }) => ({ status: 201, body: { ...presentKey(record), key: text } }),
      );
    },

    async revokeKey(call) {
      const account = await requireAccount(services, call.principal, call.query.account_id);
      const key = await requireAccountKey(services, call.principal, account.id, call.params.key_id);
      return call.write(
        (tx) => endCredential(tx, key),
        () => ({ status: 204 }),
      );
    },
  };
}
