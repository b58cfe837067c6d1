import { requireAccount, requireAccountReach, requireOwnerSession } from '../../activities/access.ts';
import { closeAccount } from '../../activities/accounts/closeAccount.ts';
import { createAccount } from '../../activities/accounts/createAccount.ts';
import { pageAccounts } from '../../activities/accounts/pageAccounts.ts';
import { readAccountUsage } from '../../activities/usage/readAccountUsage.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentAccount, presentAccountUsage } from '../presenters/identity.ts';

export function makeAccountHandlers({
  services,
  counter,
}: ApiParts): Handlers<'getAccount' | 'listAccounts' | 'createAccount' | 'deleteAccount' | 'getAccountUsage'> {
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

    async getAccountUsage({ principal, query }) {
      requireAccountReach(principal);
      const account = await requireAccount(services, principal, query.account_id);
      await counter.flush();
      return { status: 200, body: presentAccountUsage(await readAccountUsage(services, account.id, query.days)) };
    },

    async createAccount(call) {
      requireOwnerSession(call.principal, 'create accounts');
      return call.write(
        (tx) => createAccount(tx, call.principal.userId, call.body.name),
        (account) => ({
          status: 201,
          body: presentAccount(account),
          headers: { Location: `/api/control/account?account_id=${account.id}` },
        }),
      );
    },

    async deleteAccount(call) {
      requireOwnerSession(call.principal, 'delete accounts');
      const { account_id: accountId, confirm } = call.body;
      return call.handOver(call.actor(), async (tx) => ({ job: await closeAccount(tx, call.principal, { accountId, confirm }) }), {
        async: true,
        answer: async (job) => ({ status: 202, body: { job_id: job.id } }),
      });
    },
  };
}
