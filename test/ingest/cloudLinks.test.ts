import { describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { makeId } from '../../store/services.ts';
import { connectDrive } from '../setup/connectDrive.ts';
import { mintToken } from '../setup/credentials.ts';
import { type DriveItem, makeAccount } from '../setup/driveAccounts.ts';
import { keepHistory, replayHistory } from '../workflows/replay.ts';
import { answerOf, problemOf } from './answers.ts';
import { makeXlsx, useWorld } from './world.ts';

type Schemas = components['schemas'];
type Result = Schemas['FileLinkResult'];
type Provider = Schemas['DriveProvider'];

const world = await useWorld();
const { api } = world;

const file = (...numbers: number[]) =>
  makeXlsx({ S: [['品番', '品名', '数量'], ...numbers.map((n, i) => [`P000${i + 1}`, `部品 ${i + 1}`, n])] });

/** Somebody of their own, with a workbook and a drive that the service may read. */
async function makeDriver(provider: Provider = 'google_drive') {
  const person = await api.signUp();
  const item: DriveItem = { id: 'file-1', name: '在庫.xlsx', parent: 'root', content: await file(1, 2), modifiedBy: '鈴木' };
  const account = makeAccount([item]);
  await connectDrive(api, person.session, provider, account);
  const { id: workbookId } = (await person.client.POST('/api/v1/workbooks', { body: { title: '追跡' } })).data as { id: string };
  const base = `/api/v1/workbooks/${workbookId}/file-links`;
  const send = (method: string, path: string, body?: unknown, token = person.session) =>
    api.fetch(`${base}${path}`, {
      method,
      token,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
  const track = (more: object = {}, token?: string) =>
    send('POST', '', { provider, file_id: item.id, filename: '在庫.xlsx', ...more }, token);
  const readRows = async () => {
    const path = `/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent('在庫')}/rows`;
    return ((await (await api.fetch(path, { token: person.session })).json()) as { rows: Record<string, unknown>[] }).rows;
  };
  const list = async () => ((await (await send('GET', '')).json()) as Schemas['FileLinkList']).file_links;
  /** What the schedule does, once this link is due. */
  const follow = async (id: string) => {
    await api.sql.query("UPDATE file_links SET next_look_at = now() - interval '1 minute' WHERE id = $1", [id]);
    await runFollowing();
    await expect
      .poll(async () => (await api.sql.query('SELECT 1 FROM jobs WHERE workbook_id = $1 AND finished_at IS NULL', [workbookId])).rowCount)
      .toBe(0);
  };
  return { person, item, account, workbookId, send, track, readRows, list, follow };
}

/** What the schedule runs. */
async function runFollowing(): Promise<void> {
  const { client } = await api.services.temporal();
  const { taskQueue } = api.config.temporal;
  const handle = await client.workflow.start('followFiles', { workflowId: `follow-${makeId('job')}`, taskQueue, args: [] });
  await handle.result();
  await keepHistory('followFiles', handle);
}

describe.each(['google_drive', 'onedrive'] as const)('a tracked file of %s', (provider) => {
  it('is version 1 as it is now, and is pulled when it has changed', async () => {
    const { item, track, send, readRows, list } = await makeDriver(provider);
    const made = await answerOf<Result>(await track());
    expect(made).toMatchObject({
      n: 1,
      changed: true,
      artifacts: ['在庫'],
      file_link: { kind: 'cloud', provider, origin: null, every: null },
    });
    expect(made.file_link.versions).toMatchObject([{ n: 1, kind: 'link', modified_by: '鈴木', modified: expect.any(String) }]);
    const { id } = made.file_link;
    expect(await answerOf<Result>(await send('POST', `/${id}/sync`))).toMatchObject({ n: 1, changed: false });
    item.content = await file(1, 7, 3);
    const synced = await answerOf<Result>(await send('POST', `/${id}/sync`));
    expect(synced).toMatchObject({ n: 2, changed: true, artifacts: ['在庫'] });
    expect((await readRows()).map(({ __svc_row_id: row, 数量 }) => [row, 数量])).toEqual([
      [1, 1],
      [2, 7],
      [3, 3],
    ]);
    expect((await list()).map(({ versions }) => versions.map(({ kind }) => kind))).toEqual([['link', 'sync']]);
  });
});

describe('a tracked drive file', () => {
  it('feeds the source of the same name if that has a sheet in common; otherwise the name is taken', async () => {
    const { person, workbookId, item, track, list } = await makeDriver();
    await world.upload('在庫.xlsx', await file(9), { workbookId, token: person.session });
    const original = item.content;
    item.content = await makeXlsx({ 別: [['a'], ['b']] });
    expect(await problemOf(await track())).toEqual([409, 'name-taken']);
    item.content = original as Uint8Array;
    expect(await answerOf<Result>(await track())).toMatchObject({ n: 1, file_link: { source: '在庫.xlsx', versions: [{ kind: 'link' }] } });
    expect(await problemOf(await track())).toEqual([409, 'name-taken']);
    expect(await answerOf<Result>(await track({ as_name: '在庫 2.xlsx' }))).toMatchObject({ n: 1, file_link: { name: '在庫 2.xlsx' } });
    expect(await list()).toHaveLength(2);
  });

  it('is refused with a reason, and nothing changes', async () => {
    const { person, item, account, workbookId, track, send, readRows, list } = await makeDriver();
    const { id } = (await answerOf<Result>(await track())).file_link;
    const local = await world.send('別.csv', 'a,b\n1,2\n', {
      path: `/api/v1/workbooks/${workbookId}/file-links/local`,
      token: person.session,
    });
    const { id: localId } = (await answerOf<Result>(local)).file_link;
    const before = [await list(), await readRows()];
    const content = item.content;
    const push = () =>
      world.send('在庫.xlsx', content as Uint8Array, {
        path: `/api/v1/workbooks/${workbookId}/file-links/${id}/versions`,
        token: person.session,
      });
    const weak = await mintToken(person.client, { scopes: ['workbooks:write'] });
    expect(await problemOf(await push())).toEqual([409, 'in-use']);
    expect(await problemOf(await send('POST', `/${localId}/sync`))).toEqual([409, 'in-use']);
    expect(await problemOf(await send('PATCH', `/${localId}`, { every: 'daily' }))).toEqual([409, 'in-use']);
    expect(await problemOf(await send('PATCH', `/${id}`, { every: 'minutely' }))).toEqual([422, 'validation-failed']);
    expect(await problemOf(await send('POST', `/${id}/sync`, undefined, weak.text))).toEqual([403, 'missing-scope']);
    expect(await problemOf(await track({ file_id: 'nowhere', as_name: '無.xlsx' }))).toEqual([404, 'not-found']);
    expect(await problemOf(await track({ provider: 'dropbox' }))).toEqual([422, 'validation-failed']);
    item.content = 'not a workbook';
    expect(await problemOf(await send('POST', `/${id}/sync`))).toEqual([415, 'unsupported-media']);
    expect(await problemOf(await track({ as_name: '写真.xlsx' }))).toEqual([415, 'unsupported-media']);
    account.items = [];
    expect(await problemOf(await send('POST', `/${id}/sync`))).toEqual([404, 'not-found']);
    account.isWithdrawn = true;
    account.accessTokens.clear();
    expect(await problemOf(await send('POST', `/${id}/sync`))).toEqual([403, 'outside-reach']);
    expect([await list(), await readRows()]).toEqual(before);
    expect(await answerOf<Result>(await send('POST', `/${id}/versions/1/revert`))).toMatchObject({ changed: false });
  });
});

describe('a drive file that is followed', () => {
  it('is looked at when it is due, in the name of who follows it', async () => {
    const { item, track, send, readRows, list, follow } = await makeDriver();
    const { id } = (await answerOf<Result>(await track({ every: 'hourly' }))).file_link;
    item.content = await file(5, 6);
    // Not due yet.
    await runFollowing();
    expect((await list())[0]?.versions).toHaveLength(1);
    await follow(id);
    expect((await list())[0]).toMatchObject({ every: 'hourly', versions: [{ n: 1 }, { n: 2, kind: 'sync', modified_by: '鈴木' }] });
    expect((await readRows()).map(({ 数量 }) => 数量)).toEqual([5, 6]);
    await follow(id);
    expect((await list())[0]?.versions).toHaveLength(2);
    const { rows } = await api.sql.query<{ minutes: number }>(
      'SELECT extract(epoch FROM next_look_at - now())::float8 / 60 AS minutes FROM file_links WHERE id = $1',
      [id],
    );
    expect(Math.round((rows[0]?.minutes ?? 0) / 10)).toBe(6);
    expect(await answerOf(await send('PATCH', `/${id}`, { every: null }))).toMatchObject({ every: null });
    const stopped = await api.sql.query('SELECT next_look_at FROM file_links WHERE id = $1', [id]);
    expect(stopped.rows).toEqual([{ next_look_at: null }]);
  });

  it('is followed by runs that go on where they were', async () => {
    await replayHistory('followFiles');
  });

  it('is left alone once its follower may not, and others are looked at all the same', async () => {
    const [lost, other] = [await makeDriver(), await makeDriver()];
    const token = await mintToken(lost.person.client, { scopes: ['workbooks:write', 'cloud-files:read'] });
    const followed = await answerOf<Result>(await lost.track({ every: 'daily' }, token.text));
    const { id } = (await answerOf<Result>(await other.track())).file_link;
    expect(await answerOf(await other.send('PATCH', `/${id}`, { every: 'weekly' }))).toMatchObject({ every: 'weekly' });
    const gone = await api.fetch(`/api/v1/me/tokens/${token.id}`, { method: 'DELETE', token: lost.person.session });
    expect(gone.ok).toBe(true);
    for (const { item } of [lost, other]) item.content = await file(8);
    await api.sql.query("UPDATE file_links SET next_look_at = now() - interval '1 hour' WHERE id = $1", [followed.file_link.id]);
    await other.follow(id);
    expect([(await lost.list())[0]?.versions.length, (await other.list())[0]?.versions.length]).toEqual([1, 2]);
  });
});
