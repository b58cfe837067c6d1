import { describe, expect, it } from 'vitest';
import { nowhere } from '../contract/webhookSamples.ts';
import { ok, refused } from '../setup/api.ts';
import { makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { useWebhookWorld } from './world.ts';

/** Making, listing and deleting subscriptions. */

const ownUrl = 'http://127.0.0.1:4321';
const world = await useWebhookWorld({ SVC_PUBLIC_URL: ownUrl });
const { api, owner } = world;

const make = (token: string, body: { url: string; events?: 'job.completed'[] } = { url: nowhere }) =>
  api.as(token).POST('/api/v1/me/webhooks', { body });
const listIds = async (token: string) => ok(await api.as(token).GET('/api/v1/me/webhooks')).webhooks.map(({ id }) => id);
const remove = (token: string, id: string) =>
  api.as(token).DELETE('/api/v1/me/webhooks/{webhook_id}', { params: { path: { webhook_id: id } } });

describe('a webhook', () => {
  it('is made with a secret that is shown once and stored encrypted', async () => {
    const person = await api.signUp();
    const made = ok(await make(person.session, { url: nowhere, events: ['job.completed', 'job.completed'] }));
    expect(made).toMatchObject({
      url: nowhere,
      events: ['job.completed'],
      status: 'active',
      resource: 'account',
      previous_secret_expires_at: null,
    });
    expect(Buffer.from(made.secret.replace(/^whsec_/, ''), 'base64').length).toBe(32);
    const { secret, ...shown } = made;
    expect(ok(await person.client.GET('/api/v1/me/webhooks'))).toEqual({ webhooks: [shown], next_cursor: null });
    const { rows } = await api.sql.query<{ secret: Buffer }>('SELECT secret FROM webhooks WHERE id = $1', [made.id]);
    expect(rows[0]?.secret.includes(secret.slice(6, 20))).toBe(false);
    const all = ok(await make(person.session));
    expect(all.events.length).toBe(10);
  });

  it.each([
    ['http://localhost/hook', 'a name of this machine'],
    ['http://127.1:80@example.com/', 'credentials'],
    ['http://10.0.0.7/hook', 'a private address'],
    ['http://[::ffff:10.0.0.7]/hook', 'a mapped private address'],
    ['http://0x0a000007/hook', 'a private address in hexadecimal'],
    ['http://169.254.169.254/latest/meta-data', 'a link-local address'],
    ['http://[fd00::1]/hook', 'a local address of IPv6'],
    [`${ownUrl}/api/v1/me/webhooks`, 'the service itself'],
    ['http://nobody.invalid/hook', 'a name without an address'],
  ])('is refused for %s: %s', async (url) => {
    const before = await listIds(owner.session);
    const problem = refused(await make(owner.session, { url }), 400, 'url-refused');
    expect(problem.suggested_fix).toBeTruthy();
    expect(await listIds(owner.session)).toEqual(before);
  });

  it.each([
    [{ url: 'ftp://example.com/' }],
    [{ url: 'example.com' }],
    [{}],
    [{ url: nowhere, events: ['webhook.test'] }],
    [{ url: nowhere, secret: 'x' }],
  ])('is refused for %o', async (body) => {
    const answer = await api.fetch('/api/v1/me/webhooks', {
      method: 'POST',
      token: owner.session,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(422);
  });

  it('is personal, and managed within the reach of the credential that asks', async () => {
    const member = await api.signUp();
    await world.addMember(member, 'editor');
    const elsewhere = await makeWorkspace(owner.client, 'Elsewhere');
    const [wide, team, other] = [
      await mintToken(owner.client, { scopes: ['workbooks:read'] }),
      await mintKey(owner.client, { workspace_id: world.team }),
      await mintKey(owner.client, { workspace_id: elsewhere }),
    ];
    const bySession = ok(await make(owner.session)).id;
    const byToken = ok(await make(wide.text)).id;
    const byTeam = ok(await make(team.text));
    expect(byTeam.resource).toBe(`workspace:${world.team}`);
    const ids = new Set([bySession, byToken, byTeam.id]);
    const seenBy = async (token: string) => (await listIds(token)).filter((id) => ids.has(id));
    expect(await seenBy(owner.session)).toEqual([byTeam.id, byToken, bySession]);
    // A session reaches all accounts of its user, a token one of them.
    expect(await seenBy(wide.text)).toEqual([byTeam.id, byToken]);
    expect(await seenBy(team.text)).toEqual([byTeam.id]);
    expect(await seenBy(other.text)).toEqual([]);
    expect(await seenBy(member.session)).toEqual([]);
    refused(await remove(wide.text, bySession), 403, 'outside-reach');
    refused(await remove(other.text, byTeam.id), 403, 'outside-reach');
    refused(await remove(member.session, byTeam.id), 404, 'not-found');
    expect((await remove(wide.text, byTeam.id)).response.status).toBe(204);
    expect((await remove(owner.session, byToken)).response.status).toBe(204);
    refused(await remove(owner.session, byToken), 404, 'not-found');
    expect(await seenBy(owner.session)).toEqual([bySession]);
  });
});
