import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deleteExpired } from '../../store/pg/expiry.ts';
import { ok, type Person, refused } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { keepHistory } from '../workflows/replay.ts';
import { hooks, withReceivers } from './listening.ts';
import { type Received, type Receiver, verifyStandard } from './receiver.ts';
import { useWebhookWorld } from './world.ts';

/** What reaches receivers, how often, in which order, and what is told of it. */

// The usual waits would take days: four short ones, then it is given up.
const world = await useWebhookWorld({ SVC_WEBHOOK_DELAYS: '50ms,100ms,200ms,400ms' });
const { api, owner } = world;
const { listen, listDeliveries, deliveriesOf, versionsOf, edit } = withReceivers(world);

const sign = (secret: string, body: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

describe('a delivery', () => {
  it('carries the event and both signatures, which the library of the standard accepts', async () => {
    const { receiver, id, secret } = await listen();
    const book = await world.makeBook();
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([1]);
    const received = receiver.taken.find(({ event }) => event.workbook_id === book) as Received;
    expect(received.event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'artifact.updated',
      created_at: expect.any(String),
      workbook_id: book,
      workspace_id: world.team,
      actor: 'Owner',
      data: { artifact_id: expect.stringMatching(/^tbl_/), name: '表', kind: 'table', edit_version: 1 },
    });
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'x-svc-signature': sign(secret, received.body),
      'x-svc-event': 'artifact.updated',
      'x-svc-delivery': expect.stringMatching(/^dlv_/),
      'x-svc-timestamp': received.headers['webhook-timestamp'],
      'webhook-id': received.headers['x-svc-delivery'],
    });
    verifyStandard(secret, received);
    expect(() => verifyStandard(secret, { ...received, body: received.body.replace('Owner', 'Other') })).toThrow();
    await expect
      .poll(() => deliveriesOf(id, book))
      .toEqual([
        {
          id: received.id,
          event_id: received.event.id,
          type: 'artifact.updated',
          workbook_id: book,
          status: 'delivered',
          attempts: 1,
          last_status: 204,
          last_error: null,
          next_attempt_at: null,
          created_at: received.event.created_at,
          delivered_at: expect.any(String),
        },
      ]);
  });

  it('comes at once though the clock was put back after it was queued', async () => {
    const { receiver, id } = await listen();
    const book = await world.makeBook();
    await expect.poll(() => deliveriesOf(id, book)).toMatchObject([{ status: 'delivered' }]);
    await api.sql.query(
      `INSERT INTO deliveries SELECT (jsonb_populate_record(d, jsonb_build_object('id', 'dlv_late', 'event_id', 'evt_late', 'status', 'pending',
         'tries', 0, 'position', d.position + 1, 'next_attempt_at', now() + interval '3 hours'))).* FROM deliveries d WHERE webhook_id = $1`,
      [id],
    );
    // As it was left by an activity that was killed when the clock was three hours ahead.
    await api.sql.query(
      "UPDATE webhooks SET wanted_at = now() + interval '3 hours', attended_until = now() + interval '3 hours' WHERE id = $1",
      [id],
    );
    await expect.poll(() => receiver.taken.map(({ id }) => id)).toContain('dlv_late');
  });

  it('comes though the clock was put back to before the webhook was made', async () => {
    const { receiver, id } = await listen();
    await api.sql.query("UPDATE webhooks SET created_at = now() + interval '1 hour' WHERE id = $1", [id]);
    const book = await world.makeBook();
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([1]);
  });

  it('is made of the kinds that were asked for, from when the webhook was made', async () => {
    const book = await world.makeBook();
    await edit(book);
    const all = await listen();
    const some = await listen(undefined, ['snapshot.committed']);
    await edit(book);
    ok(
      await owner.client.POST('/api/v1/workbooks/{workbook_id}/snapshots', {
        params: { path: { workbook_id: book } },
        body: { summary: 'x' },
      }),
    );
    const typesOf = ({ taken }: Receiver) => taken.filter(({ event }) => event.workbook_id === book).map(({ event }) => event.type);
    await expect
      .poll(() => [typesOf(all.receiver), typesOf(some.receiver)])
      .toEqual([['artifact.updated', 'snapshot.committed'], ['snapshot.committed']]);
    expect(versionsOf(all.receiver.taken, book)).toEqual([3]);
  });

  it('that fails is tried again with the same id and body, and holds up only its workbook', async () => {
    const [failing, other] = [await world.makeBook('Failing'), await world.makeBook('Other')];
    let left = 2;
    const { receiver, id } = await listen(({ event }) => {
      if (event.workbook_id !== failing || left === 0) return 200;
      left -= 1;
      return 500;
    });
    for (let n = 0; n < 3; n += 1) for (const book of [failing, other]) await edit(book);
    await expect
      .poll(() => [failing, other].map((book) => versionsOf(receiver.taken, book)))
      .toEqual([
        [2, 3, 4],
        [2, 3, 4],
      ]);
    const tries = receiver.received.filter(({ event }) => event.workbook_id === failing);
    // Nothing of the workbook overtakes the one that failed.
    expect(versionsOf(tries, failing)).toEqual([2, 2, 2, 3, 4]);
    expect(new Set(tries.slice(0, 3).map(({ id: delivery, body }) => `${delivery} ${body}`)).size).toBe(1);
    await expect
      .poll(async () => (await deliveriesOf(id, failing)).map(({ attempts, status }) => [attempts, status]))
      .toEqual([
        [3, 'delivered'],
        [1, 'delivered'],
        [1, 'delivered'],
      ]);
  });

  it('is given up after the last try, and the queue goes on; it can be asked for again', async () => {
    const book = await world.makeBook();
    let isDown = true;
    const { receiver, id, path } = await listen(({ event }) =>
      isDown && 'edit_version' in event.data && event.data.edit_version === 2 ? 503 : 200,
    );
    await edit(book);
    await edit(book);
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([3]);
    const [failed] = await deliveriesOf(id, book);
    expect(failed).toMatchObject({
      status: 'failed',
      attempts: 5,
      last_status: 503,
      last_error: 'The receiver answered 503.',
      next_attempt_at: null,
    });
    isDown = false;
    const again = ok(
      await owner.client.POST(`${hooks}/{webhook_id}/deliveries/{delivery_id}/redeliver`, {
        params: { path: { ...path, delivery_id: failed?.id ?? '' } },
      }),
    );
    expect(again).toMatchObject({ id: failed?.id, status: 'pending', attempts: 5, last_status: 503, next_attempt_at: expect.any(String) });
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([3, 2]);
    await expect.poll(async () => (await deliveriesOf(id, book))[0]).toMatchObject({ id: failed?.id, status: 'delivered', attempts: 6 });
  });

  it('waits as long as Retry-After asks for', async () => {
    const book = await world.makeBook();
    const inAnHour = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000);
    const answers = ['7200', inAnHour.toUTCString(), '999999999', 'soon'];
    for (const value of answers) {
      const { id } = await listen(() => ({ status: 429, headers: { 'Retry-After': value } }));
      const begun = Date.now();
      await edit(book);
      await expect.poll(async () => (await deliveriesOf(id, book))[0]?.attempts ?? 0).toBeGreaterThan(0);
      const next = (await deliveriesOf(id, book))[0]?.next_attempt_at;
      const waitsMs = next ? Date.parse(next) - begun : 0;
      const wanted = { '7200': 7_200_000, '999999999': 24 * 3_600_000, soon: 0 }[value] ?? inAnHour.getTime() - begun;
      expect([value, waitsMs >= wanted - 2_000, waitsMs <= wanted + 60_000]).toEqual([value, true, true]);
    }
  });

  it('that is answered with 410 switches the webhook off, and a test that is accepted on again', async () => {
    const book = await world.makeBook();
    let status = 410;
    const { receiver, id, path } = await listen(() => status);
    await edit(book);
    const readStatus = async () => ok(await owner.client.GET(hooks)).webhooks.find((webhook) => webhook.id === id)?.status;
    await expect.poll(readStatus).toBe('disabled');
    expect(await deliveriesOf(id, book)).toMatchObject([{ status: 'failed', attempts: 1, last_status: 410 }]);
    const delivery_id = (await deliveriesOf(id, book))[0]?.id ?? '';
    const redeliver = () =>
      owner.client.POST(`${hooks}/{webhook_id}/deliveries/{delivery_id}/redeliver`, { params: { path: { ...path, delivery_id } } });
    refused(await redeliver(), 409, 'in-use');
    await edit(book);
    const test = () => owner.client.POST(`${hooks}/{webhook_id}/test`, { params: { path } });
    const refusedTest = ok(await test());
    expect(refusedTest).toMatchObject({ type: 'webhook.test', workbook_id: null, status: 'pending', attempts: 0 });
    await expect.poll(async () => (await deliveriesOf(id, null))[0]?.status).toBe('failed');
    expect(await readStatus()).toBe('disabled');
    status = 200;
    ok(await test());
    await expect.poll(readStatus).toBe('active');
    expect(receiver.taken.map(({ event }) => [event.type, event.data])).toEqual([['webhook.test', { webhook_id: id }]]);
    // What happened while it was off is not made up for.
    await edit(book);
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([4]);
    ok(await redeliver());
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([4, 2]);
    const { rows } = await api.sql.query("SELECT 1 FROM audit_entries WHERE action = 'webhook.disabled' AND target = $1", [id]);
    expect(rows.length).toBe(1);
  });

  it('is signed by both secrets while one rotates', async () => {
    const { receiver, id, secret, path } = await listen();
    const rotated = ok(await owner.client.POST(`${hooks}/{webhook_id}/rotate`, { params: { path } }));
    expect(rotated.secret).not.toBe(secret);
    expect(Date.parse(rotated.previous_secret_expires_at ?? '') - Date.now()).toBeGreaterThan(23 * 3_600_000);
    const test = async () => {
      const { id: delivery } = ok(await owner.client.POST(`${hooks}/{webhook_id}/test`, { params: { path } }));
      await expect.poll(() => receiver.taken.some((received) => received.id === delivery)).toBe(true);
      return receiver.taken.find((received) => received.id === delivery) as Received;
    };
    const both = await test();
    expect(both.headers['x-svc-signature']).toBe(`${sign(rotated.secret, both.body)},${sign(secret, both.body)}`);
    for (const each of [secret, rotated.secret]) verifyStandard(each, both);
    await api.sql.query('UPDATE webhooks SET previous_secret_expires_at = now() WHERE id = $1', [id]);
    const one = await test();
    expect(one.headers['x-svc-signature']).toBe(sign(rotated.secret, one.body));
    verifyStandard(rotated.secret, one);
    expect(() => verifyStandard(secret, one)).toThrow();
    expect(ok(await owner.client.GET(hooks)).webhooks.find((webhook) => webhook.id === id)?.previous_secret_expires_at).toBe(null);
  });

  it('is not made of what its user cannot see, nor sent when they no longer can', async () => {
    const member = await api.signUp('Member');
    await world.addMember(member, 'viewer');
    const [open, closed] = [await world.makeBook('Open'), await world.makeBook('Closed')];
    ok(
      await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', {
        params: { path: { workbook_id: closed } },
        body: { visibility: 'private' },
      }),
    );
    let isUp = false;
    const { receiver, id } = await listen(() => (isUp ? 200 : { status: 503, headers: { 'Retry-After': '3600' } }), [], member.client);
    await edit(open);
    await edit(closed);
    await expect.poll(async () => (await listDeliveries(id, member.client)).map(({ attempts }) => attempts)).toEqual([1]);
    ok(
      await owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', {
        params: { path: { workspace_id: world.team, user_id: member.userId } },
      }),
    );
    isUp = true;
    const [delivery] = await listDeliveries(id, member.client);
    ok(
      await member.client.POST(`${hooks}/{webhook_id}/deliveries/{delivery_id}/redeliver`, {
        params: { path: { webhook_id: id, delivery_id: delivery?.id ?? '' } },
      }),
    );
    await expect
      .poll(async () => (await listDeliveries(id, member.client))[0])
      .toMatchObject({
        status: 'failed',
        attempts: 1,
        last_error: 'Not sent: its user can no longer see the workbook.',
      });
    await edit(open);
    expect([receiver.received.length, receiver.taken.length]).toEqual([1, 0]);
  });

  it('stays within the reach of the credential that made the webhook', async () => {
    const [inside, outside] = [await world.makeBook(), await world.makeBook()];
    const token = await mintToken(owner.client, { resource: `workbook:${inside}`, scopes: ['workbooks:read'] });
    const { receiver } = await listen(undefined, [], api.as(token.text));
    await edit(outside);
    await edit(inside);
    await expect.poll(() => versionsOf(receiver.taken, inside)).toEqual([2]);
    expect(new Set(receiver.received.map(({ event }) => event.workbook_id))).toEqual(new Set([inside]));
  });
});

describe('the workflow of a webhook', () => {
  it('ends when nothing waits, and begins again with the next event', async () => {
    const person: Person = await api.signUp('Rare');
    await world.addMember(person, 'editor');
    const { receiver, id } = await listen(undefined, [], person.client);
    const book = await world.makeBook();
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([1]);
    const handle = (await api.services.temporal()).client.workflow.getHandle(`deliver-${id}`);
    await expect.poll(async () => (await handle.describe()).status.name).toBe('COMPLETED');
    await keepHistory('deliverWebhook', handle);
    await edit(book);
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([1, 2]);
    expect((await handle.describe()).searchAttributes).toMatchObject({ SvcKind: ['webhook'], SvcAccount: [expect.any(String)] });
  });

  it('waits by a timer for the next try, and is terminated without harm', async () => {
    const book = await world.makeBook();
    let isUp = false;
    const { receiver, id } = await listen(() => (isUp ? 200 : { status: 503, headers: { 'Retry-After': '6' } }));
    const handle = (await api.services.temporal()).client.workflow.getHandle(`deliver-${id}`);
    await edit(book);
    await expect
      .poll(
        async () => (await handle.fetchHistory()).events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes) ?? false,
      )
      .toBe(true);
    isUp = true;
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([2]);
    await expect.poll(async () => (await handle.describe()).status.name).toBe('COMPLETED');
    await keepHistory('deliverWebhookAgain', handle);
    isUp = false;
    await edit(book);
    await expect.poll(async () => (await deliveriesOf(id, book)).at(-1)?.attempts ?? 0).toBeGreaterThan(0);
    await handle.terminate('by an operator').catch(() => {});
    isUp = true;
    // Another event wakes it, and what was left is sent first once it is due.
    await edit(book);
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([2, 3, 4]);
  });
});

describe('what is kept', () => {
  it('goes after 30 days', async () => {
    const { receiver, id } = await listen();
    const book = await world.makeBook();
    await edit(book);
    await expect.poll(() => versionsOf(receiver.taken, book)).toEqual([1, 2]);
    await api.sql.query("UPDATE outbox SET created_at = now() - interval '31 days' WHERE scope = $1 AND seq = 1", [book]);
    await api.sql.query(
      "UPDATE deliveries SET created_at = now() - interval '31 days' WHERE webhook_id = $1 AND position = (SELECT position FROM outbox WHERE scope = $2 AND seq = 1)",
      [id, book],
    );
    await deleteExpired(api.services.db, () => {});
    expect(await deliveriesOf(id, book)).toHaveLength(1);
  });
});
