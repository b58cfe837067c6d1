import { listReachableAccounts, requireAccount, requireAccountReach } from '../../activities/access.ts';
import { createAccount } from '../../activities/accounts/createAccount.ts';
import { DomainError } from '../../core/errors.ts';
import { cutPage, decodeIdCursor } from '../../core/paging.ts';
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
      const limit = query.limit ?? 50;
      const after = decodeIdCursor(query.cursor, 'acc');
      const all = await listReachableAccounts(services, principal);
      // The default account first, then the others by age; one that is gone since still marks its place.
      const isAfter = (account: (typeof all)[number]) => account.kind !== 'default' && (account.id > (after ?? '') || all[0]?.id === after);
      const page = cutPage(after === null ? all : all.filter(isAfter), limit, (account) => [account.id]);
      return { status: 200, body: { accounts: page.items.map(presentAccount), next_cursor: page.nextCursor } };
    },

    async createAccount(call) {
      if (call.principal.kind !== 'session')
        throw new DomainError(
          'not-owner',
          "Only the owner's session may create accounts.",
          'Log in with POST /api/auth/login and use the session token.',
        );
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
