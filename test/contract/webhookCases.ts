import { mostWebhooks } from '../../activities/webhooks/createWebhook.ts';
import type { OperationId } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import type { Case } from './genericCases.ts';
import { makeSample, sendSample } from './samples.ts';
import { nowhere } from './webhookSamples.ts';
import { unknownId } from './world.ts';

export const webhookCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  listEvents: {
    'outside-reach': (world, operation) =>
      sendSample(world, operation, { path: `/api/v1/me/events?workbook_id=${world.workbook}`, token: world.pinnedKey }),
    expired: async (world, operation) =>
      sendSample(world, operation, { ...(await makeSample(world, operation)), headers: { 'Last-Event-ID': unknownId('evt') } }),
  },
  createWebhook: {
    'url-refused': (world, operation) =>
      sendSample(world, operation, { path: '/api/v1/me/webhooks', body: { url: 'http://169.254.169.254/latest' } }),
    'quota-exceeded': async (world, operation) => {
      const many = await world.api.signUp('Collector');
      await world.api.sql.query(
        `INSERT INTO webhooks (id, account_id, user_id, url, events, resource, all_accounts, secret, created_at)
         SELECT 'whk_' || lpad(n::text, 26, '0'), a.id, a.owner_id, $3, '{}', 'account', true, '', now()
         FROM accounts a, generate_series(1, $2) AS n WHERE a.owner_id = $1`,
        [many.userId, mostWebhooks, nowhere],
      );
      return sendSample(world, operation, { path: '/api/v1/me/webhooks', body: { url: nowhere }, token: many.session });
    },
  },
  redeliverEvent: {
    'in-use': async (world, operation) => {
      const sample = await makeSample(world, operation);
      await world.api.sql.query("UPDATE webhooks SET status = 'disabled' WHERE id = $1", [sample.path.split('/')[5]]);
      return sendSample(world, operation, sample);
    },
  },
};
