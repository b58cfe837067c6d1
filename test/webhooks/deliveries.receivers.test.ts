import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { hooks, withReceivers } from './listening.ts';
import { startReceiver } from './receiver.ts';
import { useWebhookWorld } from './world.ts';

/** Receivers that do not do what they should. */

// The usual waits would take days: four short ones, then it is given up.
const world = await useWebhookWorld({ SVC_WEBHOOK_DELAYS: '50ms,100ms,200ms,400ms' });
const { api, owner } = world;
const { listen, listDeliveries, versionsOf, edit, receivers } = withReceivers(world);

describe('a receiver that', () => {
  const describeFirst = async (id: string) => (await listDeliveries(id)).at(-1);

  it('redirects is not followed', async () => {
    const [target, { receiver, id }] = [await startReceiver(), await listen()];
    receivers.push(target);
    receiver.answerWith(() => ({ status: 307, headers: { Location: target.url } }));
    await edit(await world.makeBook());
    await expect
      .poll(() => describeFirst(id))
      .toMatchObject({ status: 'failed', last_status: 307, last_error: expect.stringContaining('Redirects') });
    expect(target.received).toEqual([]);
  });

  it('answers endlessly, or with a gigabyte, is heard for its status alone', async () => {
    const piece = Buffer.alloc(64 * 1024, 'kanarie');
    let sent = 0;
    const { id } = await listen(() => (response) => {
      response.writeHead(200, { 'Content-Length': String(1024 ** 3) });
      const pour = () => {
        while (!response.destroyed && response.write(piece)) sent += piece.length;
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    const slow = await listen(() => (response) => {
      response.writeHead(500).write('kanarie');
      const timer = setInterval(() => response.write('.'), 20);
      response.once('close', () => clearInterval(timer));
    });
    await edit(await world.makeBook());
    await expect.poll(() => describeFirst(id)).toMatchObject({ status: 'delivered', last_status: 200, last_error: null });
    await expect
      .poll(() => describeFirst(slow.id))
      .toMatchObject({ status: 'failed', last_status: 500, last_error: 'The receiver answered 500.' });
    expect(sent).toBeLessThan(64 * 1024 ** 2);
    expect(JSON.stringify(await listDeliveries(slow.id))).not.toContain('kanarie');
  });

  it('hangs up, or does not speak HTTP, is told of in our own words', async () => {
    const hanging = await listen(() => (response) => response.destroy());
    const babbling = await listen(() => (response) => response.socket?.end('kanarie\r\n\r\n'));
    await edit(await world.makeBook());
    for (const { id } of [hanging, babbling]) {
      await expect
        .poll(() => describeFirst(id))
        .toMatchObject({ status: 'failed', attempts: 5, last_status: null, last_error: expect.stringMatching(/^Not delivered: .*\.$/) });
      expect((await describeFirst(id))?.last_error).not.toContain('kanarie');
    }
  });

  it('has moved to a private address is not called there', async () => {
    const { receiver, id } = await listen();
    await api.sql.query("UPDATE webhooks SET url = 'http://10.0.0.1/hook' WHERE id = $1", [id]);
    await edit(await world.makeBook());
    await expect
      .poll(() => describeFirst(id))
      .toMatchObject({ status: 'failed', last_status: null, last_error: expect.stringContaining('10.0.0.1') });
    expect(receiver.received).toEqual([]);
  });

  it('never answers holds up no other webhook', async () => {
    const silent = await listen(() => () => {});
    const { receiver } = await listen();
    const books = [await world.makeBook(), await world.makeBook()];
    for (const book of books) await edit(book);
    await expect
      .poll(() => books.map((book) => versionsOf(receiver.taken, book)))
      .toEqual([
        [1, 2],
        [1, 2],
      ]);
    expect(silent.receiver.taken).toEqual([]);
    ok(await owner.client.DELETE(`${hooks}/{webhook_id}`, { params: { path: silent.path } }));
  });
});
