import { expect } from 'vitest';
import { applyCard } from '../../activities/billing/applyPayment.ts';
import { configureAutoTopup } from '../../activities/billing/configureAutoTopup.ts';
import { payCharges } from '../../activities/billing/payCharges.ts';
import { readBilling } from '../../activities/billing/readBilling.ts';
import { settlePeriods } from '../../activities/billing/settlePeriods.ts';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { settleCredits } from '../../activities/credits/settleCredits.ts';
import { ledgerCustomer } from '../../store/billing/ledger.ts';
import { findAccount } from '../../store/pg/accounts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { openAccount } from '../credits/openAccount.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';
import { writeAt } from '../setup/writeAt.ts';
import { openBank } from './bank.ts';

type Card = 'pays' | 'declined';

export const quiet = { heartbeat() {} };
export const now = new Date();
/** In the middle of an earlier month. */
export const monthsAgo = (months: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 15));
const card = { brand: 'ledger', last4: '0000', expMonth: 1, expYear: 2040 };
export const walletOf = (id: string, kind: Card = 'pays') => ({ customerId: ledgerCustomer(id, kind), card });

export type BillingWorld = Awaited<ReturnType<typeof openBillingWorld>>;

/** An API with the embedded provider, whose charges are watched, and what accounts do there. */
export async function openBillingWorld() {
  const api: TestApi = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  const { services } = api;
  const bank = openBank(services);
  const write = <T>(change: (tx: Tx) => Promise<T>, at?: Date): Promise<T> => writeAt(services, change, at);
  const saveCard = (id: string, kind: Card = 'pays') => write((tx) => applyCard(tx, id, walletOf(id, kind)));
  const setTopup = (id: string, enabled: boolean, amount: number | null = null) =>
    write((tx) => configureAutoTopup(tx, id, { enabled, amount, threshold: null }));
  const reserve = (accountId: string, jobId: string, amount: number, at?: Date) =>
    write((tx) => reserveCredits(tx, { accountId, workbookId: null, jobId, amount }), at);
  const settle = (accountId: string, jobId: string, at?: Date) => write((tx) => settleCredits(tx, jobId, accountId), at);
  return {
    api,
    services,
    bank,
    write,
    saveCard,
    setTopup,
    reserve,
    settle,
    open: () => openAccount(services),
    /** On pay-as-you-go, without auto-recharge. */
    async openPayg(kind: Card = 'pays'): Promise<string> {
      const id = await openAccount(services);
      await saveCard(id, kind);
      await setTopup(id, false);
      return id;
    },
    async work(accountId: string, jobId: string, amount: number, at?: Date): Promise<void> {
      expect(await reserve(accountId, jobId, amount, at)).toBe('reserved');
      await settle(accountId, jobId, at);
    },
    async read(id: string) {
      const account = await findAccount(services.db.orm, id);
      if (!account) throw new Error('no account');
      const { credits, overage: owed, autoTopup: topup, interval, period } = await readBilling(services, account);
      return { plan: account.plan, status: account.planStatus, ...credits, owed, topup: topup.enabled, interval, period };
    },
    listPayments: async (id: string) =>
      (await api.sql.query('SELECT kind, amount, credits FROM payments WHERE account_id = $1 ORDER BY at, ref', [id])).rows,
    listCharges: async (id: string) =>
      (await api.sql.query('SELECT kind, status, declines, customer_id FROM charges WHERE account_id = $1 ORDER BY id', [id])).rows,
    listAudit: async (id: string) =>
      (await api.sql.query<{ action: string }>('SELECT action FROM audit_entries WHERE scope = $1 ORDER BY seq', [id])).rows.map(
        ({ action }) => action,
      ),
    settleAll: () => settlePeriods(bank.services, '', quiet),
    pay: (id: string) => payCharges(bank.services, id, quiet),
    /** The names of what the provider was asked for. */
    askedKeys: (id: string) => bank.asked.filter(({ accountId }) => accountId === id).map(({ key }) => key),
    /** As if what was declined had been so on the day before. */
    nextDay: (id: string) =>
      api.sql.query(
        `UPDATE charges SET declined_at = declined_at - interval '1 day',
           cause = CASE kind WHEN 'settlement' THEN cause || ' before' ELSE cause END WHERE account_id = $1`,
        [id],
      ),
    /** As if the period that a subscription was paid for had ended then. */
    async endPeriod(id: string, daysAgo: number): Promise<void> {
      const end = new Date(now.getTime() - daysAgo * 86_400_000);
      await api.sql.query('UPDATE billing_profiles SET period_end = $2 WHERE account_id = $1', [id, end]);
      await api.sql.query("UPDATE charges SET cause = $2 WHERE account_id = $1 AND kind = 'subscription'", [
        id,
        `renewal:${end.toISOString()}`,
      ]);
    },
  };
}
