import { requireAccount, requireAccountReach } from '../../activities/access.ts';
import { applyPack } from '../../activities/billing/applyPayment.ts';
import { configureAutoTopup } from '../../activities/billing/configureAutoTopup.ts';
import { readBilling, readChangedBilling, readCredits } from '../../activities/billing/readBilling.ts';
import { requireUnsubscribed } from '../../activities/billing/requireUnsubscribed.ts';
import { findDefaultAccount, reuseCard } from '../../activities/billing/reuseCard.ts';
import { chargePack, openCheckout, openPortal } from '../../activities/billing/startPayment.ts';
import type { Principal } from '../../core/access/principal.ts';
import { packs } from '../../core/credits/priceList.ts';
import type { PaymentPage } from '../../store/billing/provider.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { Call, Handlers, Reply } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentBilling } from '../presenters/billing.ts';

type BillingOperation =
  | 'getBilling'
  | 'configureAutoTopup'
  | 'startCheckout'
  | 'enablePayg'
  | 'openBillingPortal'
  | 'reuseCard'
  | 'buyCredits';

export function makeBillingHandlers({ services }: ApiParts): Handlers<BillingOperation> {
  const { payments } = services;
  const findAccount = (principal: Principal, accountId: string | null | undefined) => {
    requireAccountReach(principal);
    return requireAccount(services, principal, accountId);
  };
  /** Changes how an account pays, and answers with how it pays now. */
  const answerChange = async (
    call: Pick<Call<'configureAutoTopup'>, 'write'>,
    account: AccountRecord,
    change: (tx: Tx) => Promise<void>,
  ): Promise<Reply<'configureAutoTopup'>> => {
    const credits = await readCredits(services, account);
    return call.write(
      async (tx) => {
        await change(tx);
        return readChangedBilling(tx, account.id, credits);
      },
      (view) => ({ status: 200, body: presentBilling(payments, view) }),
    );
  };
  const answerPage = (call: Pick<Call<'startCheckout'>, 'write'>, page: PaymentPage): Promise<Reply<'startCheckout'>> =>
    call.write(
      (tx) => page.keep(tx),
      () => ({ status: 200, body: { checkout_url: page.url, session_id: page.sessionId } }),
    );

  return {
    async getBilling({ principal, query }) {
      const account = await findAccount(principal, query.account_id);
      return { status: 200, body: presentBilling(payments, await readBilling(services, account)) };
    },

    async configureAutoTopup(call) {
      const { enabled, amount = null, threshold = null, account_id } = call.body;
      const account = await findAccount(call.principal, account_id);
      return answerChange(call, account, (tx) => configureAutoTopup(tx, account.id, { enabled, amount, threshold }));
    },

    async startCheckout(call) {
      const { plan, interval, account_id, success_url: success, cancel_url: cancel } = call.body;
      const account = await findAccount(call.principal, account_id);
      requireUnsubscribed(account);
      return answerPage(call, await openCheckout(services, account, { kind: 'subscription', plan, interval }, { success, cancel }));
    },

    async enablePayg(call) {
      const { account_id, success_url: success, cancel_url: cancel } = call.body ?? {};
      const account = await findAccount(call.principal, account_id);
      requireUnsubscribed(account);
      return answerPage(call, await openCheckout(services, account, { kind: 'setup' }, { success, cancel }));
    },

    async openBillingPortal(call) {
      const { account_id, return_url } = call.body ?? {};
      const account = await findAccount(call.principal, account_id);
      const page = await openPortal(services, account, return_url ?? null, call.principal.kind === 'session');
      return call.write(
        (tx) => page.keep(tx),
        () => ({ status: 200, body: { portal_url: page.url, session_id: page.sessionId } }),
      );
    },

    async reuseCard(call) {
      const account = await findAccount(call.principal, call.body.account_id);
      const payer = await findDefaultAccount(services, account.ownerId);
      return answerChange(call, account, (tx) => reuseCard(tx, account.id, payer));
    },

    async buyCredits(call) {
      const { pack, account_id } = call.body;
      const account = await findAccount(call.principal, account_id);
      const credits = await readCredits(services, account);
      const payment = await chargePack(services, account, pack, {
        key: call.header('Idempotency-Key'),
        credentialId: call.principal.credentialId,
      });
      if (payment !== null)
        return call.write(
          (tx) => applyPack(tx, account.id, pack, payment),
          () => {
            const { credits: added } = packs[pack];
            const now = { ...credits, purchased: credits.purchased + added, remaining: credits.remaining + added };
            return { status: 200, body: { status: 'paid', credits_added: added, credits: now, checkout_url: null, session_id: null } };
          },
        );
      const page = await openCheckout(services, account, { kind: 'topup', pack });
      return call.write(
        (tx) => page.keep(tx),
        () => ({
          status: 200,
          body: { status: 'checkout', credits_added: 0, credits, checkout_url: page.url, session_id: page.sessionId },
        }),
      );
    },
  };
}
