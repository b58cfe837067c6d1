import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { settingsWords } from './words.ts';

/** The plan and what is left of its credits. Payments are on pages of the payment provider. */
export function BillingSection() {
  const t = useWords(settingsWords);
  const { formatNumber, formatTime } = useSpeech();
  const { fail } = useNotices();
  const billing = useQuery({ queryKey: ['billing'], queryFn: () => ask(api.GET('/api/control/account/billing')) });
  const here = location.href;
  const leave = async (finding: Promise<string | null>) => {
    try {
      const address = await finding;
      if (address) location.assign(address);
      else void billing.refetch();
    } catch (error) {
      fail(error);
    }
  };
  const checkout = async (plan: 'solo' | 'pro') => {
    const body = { plan, interval: 'monthly', success_url: here, cancel_url: here } as const;
    return (await ask(api.POST('/api/control/account/billing/checkout', { body }))).checkout_url;
  };
  const portal = async () => (await ask(api.POST('/api/control/account/billing/portal', { body: { return_url: here } }))).portal_url;
  const buy = async (pack: 'small' | 'medium' | 'large') =>
    (await ask(api.POST('/api/control/account/billing/topup', { body: { pack } }))).checkout_url;
  return (
    <Answer of={billing}>
      {({ plan, plan_status: status, credits, card, period_start: from, period_end: to }) => (
        <>
          <dl className="facts">
            <dt>{t.plan}</dt>
            <dd>
              {plan} {status !== 'none' && <span className="mark">{status}</span>}
            </dd>
            <dt>{t.remaining}</dt>
            <dd>
              <strong>{formatNumber(credits.remaining)}</strong>{' '}
              <meter aria-label={t.remaining} max={Math.max(1, credits.included + credits.purchased)} value={credits.remaining} />
            </dd>
            <dt>{t.used}</dt>
            <dd>{formatNumber(credits.used)}</dd>
            <dt>{t.included}</dt>
            <dd>{formatNumber(credits.included)}</dd>
            <dt>{t.purchased}</dt>
            <dd>{formatNumber(credits.purchased)}</dd>
            <dt>{t.period}</dt>
            <dd>
              {formatTime(from)} – {formatTime(to)}
            </dd>
            <dt>{t.card}</dt>
            <dd>{card ? `${card.brand} …${card.last4}` : t.noCard}</dd>
          </dl>
          <div className="row">
            {(['solo', 'pro'] as const).map((name) => (
              <button key={name} type="button" disabled={plan === name} onClick={() => void leave(checkout(name))}>
                {t.choosePlan(name)}
              </button>
            ))}
            {(['small', 'medium', 'large'] as const).map((pack) => (
              <button key={pack} type="button" onClick={() => void leave(buy(pack))}>
                {t.buy(t.packs[pack] ?? pack)}
              </button>
            ))}
            <button type="button" onClick={() => void leave(portal())}>
              {t.portal}
            </button>
          </div>
        </>
      )}
    </Answer>
  );
}
