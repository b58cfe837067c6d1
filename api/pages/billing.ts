import type { BillingView } from '../../activities/billing/readBilling.ts';
import type { CheckoutAction } from '../../activities/billing/useLedger.ts';
import { type Interval, type Pack, type PaidPlan, packs, subscriptionPrices } from '../../core/credits/priceList.ts';
import { type Html, html } from './html.ts';
import type { Language } from './language.ts';
import { makePage, type Page } from './layout.ts';

const texts = {
  en: {
    checkout: 'Checkout',
    account: 'Account',
    noMoney: 'This installation takes no money: the card is a pretended one, and nothing is charged.',
    subscription: (plan: string, interval: Interval) => `Plan ${plan}, ${interval === 'annual' ? 'paid by the year' : 'paid by the month'}`,
    setup: 'Save a card for pay-as-you-go',
    pack: (credits: string) => `${credits} credits`,
    price: 'Price',
    confirm: 'Pay',
    save: 'Save the card',
    saveDeclined: 'Save a card that is declined',
    cancel: 'Cancel',
    confirmed: 'Done',
    confirmedText: 'You can close this page.',
    cancelled: 'Nothing was changed',
    portal: 'Billing',
    plan: 'Plan',
    card: 'Card',
    none: 'none',
    until: 'until',
    canceled: 'canceled',
    cancelSubscription: 'Cancel the subscription',
    removeCard: 'Remove the card',
    back: 'Back',
  },
  ja: {
    checkout: 'お支払い',
    account: 'アカウント',
    noMoney: 'この環境では実際の支払いは行われません。カードは見本で、何も請求されません。',
    subscription: (plan: string, interval: Interval) => `${plan} プラン（${interval === 'annual' ? '年払い' : '月払い'}）`,
    setup: '従量課金のためのカード登録',
    pack: (credits: string) => `${credits} クレジット`,
    price: '料金',
    confirm: '支払う',
    save: 'カードを登録する',
    saveDeclined: '支払いが拒否されるカードを登録する',
    cancel: 'やめる',
    confirmed: '完了しました',
    confirmedText: 'このページを閉じてください。',
    cancelled: '何も変更されませんでした',
    portal: 'お支払い設定',
    plan: 'プラン',
    card: 'カード',
    none: 'なし',
    until: '期限',
    canceled: '解約済み',
    cancelSubscription: '契約を解約する',
    removeCard: 'カードを削除する',
    back: '戻る',
  },
};

interface Ordered {
  kind: 'subscription' | 'setup' | 'topup' | 'portal';
  plan: PaidPlan | null;
  interval: Interval | null;
  pack: Pack | null;
  successUrl: string | null;
  cancelUrl: string | null;
}

const yen = (amount: number) => `¥${amount.toLocaleString('en')}`;

/** Where the buttons of a page lead: here, and where the answer sends the browser. */
const targets = (...urls: (string | null)[]) => [
  ...new Set(["'self'", ...urls.flatMap((url) => (url === null ? [] : [new URL(url).origin]))]),
];

export function makeCheckoutPage(language: Language, accountName: string, ordered: Ordered): Page {
  const say = texts[language];
  const { what, price } = describeOrder(language, ordered);
  const body = html`<h1>${say.checkout}</h1>
<p>${what}</p>
<dl><dt>${say.account}</dt><dd>${accountName}</dd><dt>${say.price}</dt><dd>${yen(price)}</dd></dl>
<p class="dim">${say.noMoney}</p>
<form method="post">
<button class="main" name="action" value="confirm">${ordered.kind === 'setup' ? say.save : say.confirm}</button>
${ordered.kind === 'setup' ? html`<button name="action" value="confirm_declined">${say.saveDeclined}</button>` : ''}
<button name="action" value="cancel">${say.cancel}</button>
</form>`;
  return makePage(say.checkout, body, targets(ordered.successUrl, ordered.cancelUrl), language);
}

function describeOrder(language: Language, { plan, interval, pack }: Ordered): { what: string; price: number } {
  const say = texts[language];
  if (plan && interval) return { what: say.subscription(plan, interval), price: subscriptionPrices[plan][interval] };
  if (pack) return { what: say.pack(packs[pack].credits.toLocaleString('en')), price: packs[pack].price };
  return { what: say.setup, price: 0 };
}

export function makeEndPage(language: Language, action: CheckoutAction): Page {
  const say = texts[language];
  const title = action === 'cancel' ? say.cancelled : say.confirmed;
  return makePage(title, html`<h1>${title}</h1><p>${say.confirmedText}</p>`, [], language);
}

export function makePortalPage(
  language: Language,
  { account, card, interval, period, sharesWith }: BillingView,
  returnUrl: string | null,
): Page {
  const say = texts[language];
  const until = interval === null ? '' : `, ${say.until} ${period.end.toISOString().slice(0, 10)}`;
  const canceled = account.planStatus === 'canceled' ? ` (${say.canceled})` : '';
  const isSubscribed = ['active', 'trialing', 'past_due'].includes(account.planStatus);
  const button = (action: string, label: string): Html => html`<button name="action" value="${action}">${label}</button>`;
  const body = html`<h1>${say.portal}</h1>
<dl><dt>${say.account}</dt><dd>${account.name}</dd>
<dt>${say.plan}</dt><dd>${account.plan}${until}${canceled}</dd>
<dt>${say.card}</dt><dd>${card ? `${card.brand} •••• ${card.last4}` : say.none}</dd></dl>
<form method="post">
${isSubscribed ? button('cancel_subscription', say.cancelSubscription) : ''}
${card || sharesWith ? button('remove_card', say.removeCard) : ''}
${button('return', say.back)}
</form>`;
  return makePage(say.portal, body, targets(returnUrl), language);
}
