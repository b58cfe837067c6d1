import { completeCheckout, pageActor, readSessionBilling, submitPortal, withSession } from '../../activities/billing/useLedger.ts';
import type { Handlers, Reply } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { makeCheckoutPage, makeEndPage, makePortalPage } from '../pages/billing.ts';
import { chooseLanguage } from '../pages/language.ts';

/** Pages that an unguessable address opens are kept by nobody. */
const notKept = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

/** The pages of the embedded payment provider. The id in the address is the whole authorization. */
export function makeBillingPageHandlers({
  services,
}: ApiParts): Handlers<'getCheckoutPage' | 'completeCheckout' | 'getPortalPage' | 'submitPortal'> {
  return {
    async getCheckoutPage({ params, header }) {
      return withSession(services, params.session_id, 'checkout', async (session) => {
        const { account } = await readSessionBilling(services, session);
        const { headers, raw } = makeCheckoutPage(chooseLanguage(header('Accept-Language')), account.name, session);
        return { status: 200, headers: { ...headers, ...notKept }, raw };
      });
    },

    async completeCheckout(call) {
      const { action } = call.body;
      return withSession(services, call.params.session_id, 'checkout', (session) =>
        call.writeAs(pageActor(call.requestId))(
          (tx) => completeCheckout(tx, session, action),
          () => {
            const next = action === 'cancel' ? session.cancelUrl : session.successUrl;
            if (next !== null) return { status: 303, headers: { Location: next, ...notKept } };
            const { headers, raw } = makeEndPage(chooseLanguage(call.header('Accept-Language')), action);
            return { status: 200, headers: { ...headers, ...notKept }, raw };
          },
        ),
      );
    },

    async getPortalPage({ params, header }) {
      return withSession(services, params.session_id, 'portal', async (session) => {
        const view = await readSessionBilling(services, session);
        const { headers, raw } = makePortalPage(chooseLanguage(header('Accept-Language')), view, session.cancelUrl);
        return { status: 200, headers: { ...headers, ...notKept }, raw };
      });
    },

    async submitPortal(call) {
      const { action } = call.body;
      return withSession<Reply<'submitPortal'>>(services, call.params.session_id, 'portal', async (session) => {
        if (action === 'return' && session.cancelUrl !== null) return { status: 303, headers: { Location: session.cancelUrl, ...notKept } };
        const { credits } = await readSessionBilling(services, session);
        return call.writeAs(pageActor(call.requestId))(
          (tx) => submitPortal(tx, session, action, credits),
          (view) => {
            const { headers, raw } = makePortalPage(chooseLanguage(call.header('Accept-Language')), view, session.cancelUrl);
            return { status: 200, headers: { ...headers, ...notKept }, raw };
          },
        );
      });
    },
  };
}
