import { afterAll, describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { member, startTeam, workbook, workspace } from './team.ts';

/** Workbooks: who sees which, and what becomes of those of people who leave. */

const { api, owner, admin, editor, viewer, outsider, team, join } = await startTeam();
afterAll(() => api.stop());

describe('createWorkbook, updateWorkbook and deleteWorkbook: a workbook', () => {
  it('is made, read, changed and deleted', async () => {
    const answer = await owner.client.POST('/api/v1/workbooks', { body: { title: '予算 2027', workspace_id: team } });
    const made = ok(answer);
    expect(made).toMatchObject({
      title: '予算 2027',
      workspace_id: team,
      visibility: 'workspace',
      governed: false,
      owner: { id: owner.userId },
      counts: { tables: 0, sources: 0, sheets: 0, charts: 0 },
    });
    expect(answer.response.headers.get('location')).toBe(`/api/v1/workbooks/${made.id}`);
    expect(ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}', workbook(made.id)))).toEqual(made);
    const changed = ok(await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', { ...workbook(made.id), body: { title: '予算 2028' } }));
    expect(changed).toMatchObject({ ...made, title: '予算 2028', updated_at: expect.any(String) });
    expect(Date.parse(changed.updated_at)).toBeGreaterThanOrEqual(Date.parse(made.updated_at));
    expect((await owner.client.DELETE('/api/v1/workbooks/{workbook_id}', workbook(made.id))).response.status).toBe(204);
    refused(await owner.client.GET('/api/v1/workbooks/{workbook_id}', workbook(made.id)), 404, 'not-found');
    refused(await owner.client.DELETE('/api/v1/workbooks/{workbook_id}', workbook(made.id)), 404, 'not-found');
    refused(await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', { ...workbook(made.id), body: { title: 'x' } }), 404, 'not-found');
    const { rows } = await api.sql.query(
      "SELECT a.scope = b.account_id AS account FROM audit_entries a JOIN workbooks b ON b.id = a.target WHERE a.action = 'workbook.deleted' AND b.id = $1 ORDER BY 1",
      [made.id],
    );
    // In its own journal, and in the account's, which outlives it.
    expect(rows).toEqual([{ account: false }, { account: true }]);
  });

  it('that is private is there for its owner alone, not even for the owner of the account', async () => {
    const hidden = ok(
      await editor.client.POST('/api/v1/workbooks', { body: { title: 'Draft', workspace_id: team, visibility: 'private' } }),
    ).id;
    const key = api.as((await mintKey(owner.client, { scopes: ['workbooks:read', 'workspaces:read'] })).text);
    for (const client of [owner.client, admin.client, viewer.client, key]) {
      refused(await client.GET('/api/v1/workbooks/{workbook_id}', workbook(hidden)), 404, 'not-found');
      expect(ok(await client.GET('/api/v1/workbooks', { params: { query: { limit: 1000 } } })).workbooks.map(({ id }) => id)).not.toContain(
        hidden,
      );
      const inWorkspace = ok(await client.GET('/api/control/workspaces/{workspace_id}/workbooks', workspace(team)));
      expect(inWorkspace.workbooks.map(({ id }) => id)).not.toContain(hidden);
    }
    expect(ok(await editor.client.GET('/api/v1/workbooks')).workbooks.map(({ id }) => id)).toContain(hidden);
    ok(await editor.client.PATCH('/api/v1/workbooks/{workbook_id}', { ...workbook(hidden), body: { visibility: 'workspace' } }));
    expect((await viewer.client.GET('/api/v1/workbooks/{workbook_id}', workbook(hidden))).response.status).toBe(200);
    ok(await editor.client.PATCH('/api/v1/workbooks/{workbook_id}', { ...workbook(hidden), body: { visibility: 'private' } }));
    refused(await viewer.client.GET('/api/v1/workbooks/{workbook_id}', workbook(hidden)), 404, 'not-found');
  });

  it('is listed as shared and as one’s own', async () => {
    const mine = ok(await editor.client.POST('/api/v1/workbooks', { body: { title: 'Mine', workspace_id: team } })).id;
    const theirs = await makeWorkbook(owner.client, 'Theirs', team);
    const shared = ok(await editor.client.GET('/api/v1/workbooks')).workbooks.map(({ id }) => id);
    expect(shared).toEqual(expect.arrayContaining([mine, theirs]));
    const own = ok(await editor.client.GET('/api/v1/me/workbooks')).workbooks;
    expect(own.map(({ id }) => id)).toContain(mine);
    expect(new Set(own.map(({ owner: { id } }) => id))).toEqual(new Set([editor.userId]));
  });

  it('stays when its owner leaves the workspace', async () => {
    const id = await makeWorkspace(owner.client, 'Left');
    await join(id, outsider, 'editor');
    const left = ok(await outsider.client.POST('/api/v1/workbooks', { body: { title: 'Left behind', workspace_id: id } })).id;
    ok(await owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(id, outsider.userId)));
    expect(ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}', workbook(left))).owner.id).toBe(outsider.userId);
    refused(await outsider.client.GET('/api/v1/workbooks/{workbook_id}', workbook(left)), 404, 'not-found');
  });

  it('goes to the workspace’s owner if it is private, and only there', async () => {
    const [id, elsewhere] = [await makeWorkspace(owner.client, 'Left'), await makeWorkspace(owner.client, 'Stayed')];
    for (const each of [id, elsewhere]) await join(each, outsider, 'editor');
    const hide = async (workspaceId: string) =>
      ok(
        await outsider.client.POST('/api/v1/workbooks', {
          body: { title: 'Hidden', workspace_id: workspaceId, visibility: 'private' },
        }),
      ).id;
    const [left, kept] = [await hide(id), await hide(elsewhere)];
    refused(await owner.client.GET('/api/v1/workbooks/{workbook_id}', workbook(left)), 404, 'not-found');
    ok(await owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(id, outsider.userId)));
    expect(ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}', workbook(left)))).toMatchObject({
      owner: { id: owner.userId },
      visibility: 'private',
    });
    const { entries } = ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}/audit-log', workbook(left)));
    expect(entries[0]).toMatchObject({ action: 'workbook.configured', detail: { fields: ['owner'] } });
    for (const person of [owner, admin])
      refused(await person.client.GET('/api/v1/workbooks/{workbook_id}', workbook(kept)), 404, 'not-found');
    expect(ok(await outsider.client.GET('/api/v1/workbooks/{workbook_id}', workbook(kept))).owner.id).toBe(outsider.userId);
    // Being a member again does not bring it back.
    await join(id, outsider, 'editor');
    refused(await outsider.client.GET('/api/v1/workbooks/{workbook_id}', workbook(left)), 404, 'not-found');
  });

  it('is never left to nobody, though it is made while its owner is removed', async () => {
    const id = await makeWorkspace(owner.client, 'Busy');
    for (let round = 0; round < 5; round++) {
      await join(id, outsider, 'editor');
      const make = () =>
        outsider.client.POST('/api/v1/workbooks', { body: { title: 'In between', workspace_id: id, visibility: 'private' } });
      const leave = owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(id, outsider.userId));
      await Promise.all([make(), make(), leave, make(), make()]);
      const { rows } = await api.sql.query('SELECT 1 FROM workbooks WHERE workspace_id = $1 AND owner_id <> $2', [id, owner.userId]);
      expect(rows).toEqual([]);
    }
  });
});

describe('getMyUsage', () => {
  it('counts the requests of each credential; a session sees all of its user’s, a token itself', async () => {
    const person = await api.signUp();
    const [one, two] = [await mintToken(person.client, { name: 'one' }), await mintToken(person.client, { name: 'two' })];
    for (let i = 0; i < 3; i++) await api.as(one.text).GET('/api/v1/me');
    await api.as(two.text).GET('/api/v1/me');
    const seen = ok(await api.as(one.text).GET('/api/v1/me/usage', { params: { query: { days: 1 } } }));
    expect(seen.tokens).toMatchObject([{ token_id: one.id, name: 'one', total: 4, daily: [{ requests: 4 }] }]);
    const all = ok(await person.client.GET('/api/v1/me/usage')).tokens;
    expect(Object.fromEntries(all.map(({ token_id, total }) => [token_id, total]))).toMatchObject({ [one.id]: 4, [two.id]: 1 });
    expect(ok(await person.client.GET('/api/v1/me/tokens')).tokens.every(({ last_used_at }) => last_used_at !== null)).toBe(true);
  });
});
