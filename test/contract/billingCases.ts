import type { OperationId } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import type { Case } from './genericCases.ts';
import { makeSample, sendSample } from './samples.ts';
import { unknownId } from './world.ts';

const ofUnknownAccount: Case = async (world, operation) => {
  const { path, body } = await makeSample(world, operation);
  return sendSample(world, operation, { path, body: { ...(body as object), account_id: unknownId('acc') } });
};

const whileSubscribed: Case = async (world, operation) => {
  const sample = await makeSample(world, operation);
  const { account_id: id } = sample.body as { account_id: string };
  await world.api.sql.query("UPDATE accounts SET plan = 'solo', plan_status = 'active' WHERE id = $1", [id]);
  return sendSample(world, operation, sample);
};

const onUnknownPage: Case = async (world, operation) => {
  const sample = await makeSample(world, operation);
  return sendSample(world, operation, { ...sample, path: sample.path.replace(/[^/]+$/, 'cs_nobodys') });
};

const onOldPage: Case = async (world, operation) => {
  const sample = await makeSample(world, operation);
  await world.api.sql.query("UPDATE billing_sessions SET expires_at = now() - interval '1 second'");
  return sendSample(world, operation, sample);
};

const pressUnknown: Case = async (world, operation) =>
  sendSample(world, operation, { ...(await makeSample(world, operation)), body: 'action=jump' });

export const billingCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  getBilling: {
    'not-found': (world, operation) =>
      sendSample(world, operation, { path: `/api/control/account/billing?account_id=${unknownId('acc')}` }),
  },
  getAccountUsage: {
    'not-found': (world, operation) =>
      sendSample(world, operation, { path: `/api/control/account/usage/series?account_id=${unknownId('acc')}` }),
  },
  configureAutoTopup: { 'not-found': ofUnknownAccount },
  startCheckout: { 'not-found': ofUnknownAccount, 'subscription-active': whileSubscribed },
  enablePayg: { 'not-found': ofUnknownAccount, 'subscription-active': whileSubscribed },
  openBillingPortal: { 'not-found': ofUnknownAccount },
  reuseCard: {
    'not-found': ofUnknownAccount,
    'subscription-active': whileSubscribed,
    'default-account': async (world, operation) => {
      const { rows } = await world.api.sql.query<{ id: string }>("SELECT id FROM accounts WHERE owner_id = $1 AND kind = 'default'", [
        world.owner.userId,
      ]);
      return sendSample(world, operation, { ...(await makeSample(world, operation)), body: { account_id: rows[0]?.id } });
    },
  },
  buyCredits: { 'not-found': ofUnknownAccount },
  getCheckoutPage: { 'not-found': onUnknownPage, expired: onOldPage },
  completeCheckout: {
    'not-found': onUnknownPage,
    expired: onOldPage,
    'validation-failed': pressUnknown,
    'in-use': async (world, operation) => {
      const sample = await makeSample(world, operation);
      await sendSample(world, operation, sample);
      return sendSample(world, operation, sample);
    },
  },
  receiveBillingCallback: {
    'bad-signature': async (world, operation) => {
      const sample = await makeSample(world, operation);
      return sendSample(world, operation, { ...sample, body: `${sample.body} ` });
    },
    'validation-failed': async (world, operation) => sendSample(world, operation, { ...(await makeSample(world, operation)), body: '[]' }),
  },
  getPortalPage: { 'not-found': onUnknownPage, expired: onOldPage },
  submitPortal: { 'not-found': onUnknownPage, expired: onOldPage, 'validation-failed': pressUnknown },
};
