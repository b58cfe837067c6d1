import { requireAccount, requireAccountReach, requireOwnerSession } from '../../activities/access.ts';
import { createAccount } from '../../activities/accounts/createAccount.ts';
import { pageAccounts } from '../../activities/accounts/pageAccounts.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentAccount } from '../presenters/identity.ts';

export function makeAccountHandlers({ services }: ApiParts): Handlers<'getAccount' | 'listAccounts' | 'createAccount'> {
  return {
    async getAccount({ principal, query }) {
      requireAccountReach(principal);
      return { status: 200, body: presentAccount(await requireAccount(services, principal, query.account_id)) };
    },

    async listAccounts({ principal, query }) {
      requireAccountReach(principal);
      const page = await pageAccounts(services, principal, query);
      return { status: 200, body: { accounts: page.items.map(presentAccount), next_cursor: page.nextCursor } };
    },

    async createAccount(call) {
      requireOwnerSession(call.principal);
      return call.write(
        (tx) => createAccount(tx, call.principal.userId, call.body.name),
        (account) => ({
          status: 201,
          body: presentAccount(account),
          headers: { Location: `/api/control/account?account_id=${account.id}` },
        }),
      );
    },
  };
}
