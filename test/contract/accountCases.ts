import type { OperationId } from '../../api/http/contract.ts';
import { scopes } from '../../core/access/scopes.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { mintKey } from '../setup/credentials.ts';
import type { Case } from './genericCases.ts';
import { makeSample, sendSample } from './samples.ts';
import { unknownId, type World } from './world.ts';

type Body = { account_id: string; confirm: string };

/** The sample of a deletion with other fields, after the account was changed. */
const change =
  (alter: (world: World, body: Body) => Promise<Partial<Body>>): Case =>
  async (world, operation) => {
    const sample = await makeSample(world, operation);
    const body = sample.body as Body;
    return sendSample(world, operation, { ...sample, body: { ...body, ...(await alter(world, body)) } });
  };

export const accountCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  deleteAccount: {
    'not-owner': async (world, operation) =>
      sendSample(world, operation, {
        ...(await makeSample(world, operation)),
        token: (await mintKey(world.owner.client, { scopes: [...scopes] })).text,
      }),
    'not-found': change(async () => ({ account_id: unknownId('acc') })),
    'default-account': change(async ({ accountId }) => ({ account_id: accountId })),
    'subscription-active': change(async ({ api }, { account_id }) => {
      await api.sql.query("UPDATE accounts SET plan = 'solo', plan_status = 'trialing' WHERE id = $1", [account_id]);
      return {};
    }),
    'overage-unsettled': change(async ({ api }, { account_id }) => {
      await api.sql.query('INSERT INTO billing_profiles (account_id, arrears, updated_at) VALUES ($1, 1000000, now())', [account_id]);
      return {};
    }),
    'confirm-mismatch': change(async () => ({ confirm: 'Another' })),
  },
};
