import { afterAll, describe, expect, it } from 'vitest';
import { jobCompleted } from '../../core/journal/jobNotes.ts';
import { artifactUpdated } from '../../core/journal/tableNotes.ts';
import { workbookConfigured } from '../../core/journal/workbookNotes.ts';
import { commit } from '../../store/pg/commit.ts';
import { ok } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { startAudit } from './journal.ts';

/** The journal: what it says, and that it is gap-free. */

const { api, owner, accountId, readLog, isValid, rename, isChainValid, isAccountValid, actor, note } = await startAudit();
afterAll(() => api.stop());

describe('listAuditLog', () => {
  it('says who did what to what, newest first, and is whole', async () => {
    const id = await makeWorkbook(owner.client, 'Logged');
    const token = await mintToken(owner.client, { scopes: ['workbooks:write'] });
    await api
      .as(token.text)
      .PATCH('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: id } }, body: { title: 'By token' } });
    const answer = await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', {
      params: { path: { workbook_id: id } },
      body: { visibility: 'private' },
    });
    const log = await readLog(id);
    expect(log.chain_valid).toBe(true);
    expect(log.entries).toMatchObject([
      {
        seq: 3,
        action: 'workbook.configured',
        target: id,
        actor: 'Owner',
        user_id: owner.userId,
        credential: { kind: 'session' },
        detail: { fields: ['visibility'] },
        request_id: answer.response.headers.get('x-request-id'),
      },
      { seq: 2, action: 'workbook.configured', credential: { kind: 'access_token', id: token.id }, detail: { fields: ['title'] } },
      { seq: 1, action: 'workbook.created', detail: { visibility: 'workspace' } },
    ]);
  });

  it('says nothing of a change that changes nothing', async () => {
    const id = await makeWorkbook(owner.client, 'The same');
    const params = { path: { workbook_id: id } };
    const before = ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}', { params }));
    for (const body of [{}, { title: 'The same' }, { title: 'The same', visibility: 'workspace' as const }])
      expect(ok(await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', { params, body }))).toEqual(before);
    const more = { title: 'The same', visibility: 'private' as const };
    ok(await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', { params, body: more }));
    expect((await readLog(id)).entries).toMatchObject([{ seq: 2, detail: { fields: ['visibility'] } }, { seq: 1 }]);
  });

  it('stays whole over many mixed changes at the same moment, for the workbook and for the account', async () => {
    const id = await makeWorkbook(owner.client, 'Busy');
    await Promise.all([
      ...Array.from({ length: 12 }, (_, i) => rename(id, `Busy ${i}`)),
      ...Array.from({ length: 4 }, () => mintKey(owner.client)),
      ...Array.from({ length: 4 }, () => mintToken(owner.client)),
      ...Array.from({ length: 4 }, (_, i) => makeWorkspace(owner.client, `Busy ${i}`)),
      ...Array.from({ length: 6 }, (_, i) =>
        note(id, { audit: [{ action: 'job.cancelled', target: `部品 ${i}`, detail: { nested: { list: [1, 2.5, null, 'ü'] } } }] }),
      ),
    ]);
    const log = await readLog(id);
    expect([log.chain_valid, log.entries.map(({ seq }) => seq)]).toEqual([true, Array.from({ length: 19 }, (_, i) => 19 - i)]);
    expect(await isAccountValid()).toBe(true);
    const { rows } = await api.sql.query('SELECT count(*)::int AS n, max(seq)::int AS last FROM audit_entries WHERE scope = $1', [
      accountId,
    ]);
    expect(rows[0]?.n).toBe(rows[0]?.last);
  });

  it('is false under another key', async () => {
    const id = await makeWorkbook(owner.client, 'Keyed');
    const { inner, outer } = api.services.auditPads;
    expect(await isChainValid(id, { inner: outer, outer: inner })).toBe(false);
    expect(await isChainValid(id, { inner, outer })).toBe(true);
  });

  it('holds no title, no password, no token and no value that someone has sent', async () => {
    const marks = { title: 'MARKEDTITLE', rules: 'MARKEDRULES', password: owner.password, token: '' };
    const id = await makeWorkbook(owner.client, marks.title);
    await rename(id, `${marks.title} again`);
    const workspace = await makeWorkspace(owner.client, 'For the log');
    const params = { path: { workspace_id: workspace } };
    ok(
      await owner.client.PATCH('/api/control/workspaces/{workspace_id}', {
        params,
        body: { preprocess_rules: marks.rules, idp_config: { secret: marks.rules } },
      }),
    );
    marks.token = (await mintToken(owner.client)).text.slice(-43);
    for (const table of ['audit_entries', 'ops', 'outbox', 'usage_entries', 'heads']) {
      for (const [what, mark] of Object.entries(marks)) {
        const { rowCount } = await api.sql.query(`SELECT 1 FROM ${table} t WHERE position($1 in t::text) > 0`, [mark]);
        expect([table, what, rowCount]).toEqual([table, what, 0]);
      }
    }
    expect((await api.sql.query('SELECT 1 FROM audit_entries t WHERE position($1 in t::text) > 0', [workspace])).rowCount).toBeGreaterThan(
      0,
    );
  });
});

describe('svc_journal: the numbers of ops, entries and events', () => {
  const numbers = async (table: string, column: string, scope: string) =>
    (await api.sql.query<{ n: string }>(`SELECT ${column} AS n FROM ${table} WHERE scope = $1 ORDER BY ${column}`, [scope])).rows.map(
      ({ n }) => Number(n),
    );
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

  it('are gap-free, however many write at the same moment, and whatever fails in between', async () => {
    const id = await makeWorkbook(owner.client, 'Numbered');
    const event = artifactUpdated({ id: 'tbl_1', name: 't' }, 1);
    const write = () =>
      note(id, {
        ops: [{ kind: 'rows.upsert' }, { kind: 'rows.delete' }],
        audit: [{ action: 'rows.upsert', target: 't' }],
        events: [event, event, event],
        usage: [{ kind: 'op', amount: 2 }],
      });
    const fail = () =>
      commit(
        api.services,
        actor,
        async (tx) => {
          tx.note(id, { ops: [{ kind: 'merge.apply' }], audit: [{ action: 'merge.apply', target: 't' }], events: [event] });
        },
        async () => {
          throw new Error('after the journal');
        },
      ).catch((error: Error) => error.message);
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 4 === 3 ? fail() : write())));
    expect(outcomes.filter((outcome) => outcome === 'after the journal')).toHaveLength(10);
    expect(await numbers('ops', 'op_id', id)).toEqual(upTo(60));
    expect(await numbers('audit_entries', 'seq', id)).toEqual(upTo(31));
    expect(await numbers('outbox', 'seq', id)).toEqual(upTo(90));
    expect((await api.sql.query("SELECT 1 FROM ops WHERE kind = 'merge.apply'")).rowCount).toBe(0);
    expect(await isValid(id)).toBe(true);
    // The numbers that the writer is told are its own.
    const given = (await write()) as { firstOp: number; firstAudit: number; firstEvent: number };
    expect(given).toEqual({ firstOp: 61, firstAudit: 32, firstEvent: 91 });
    const { rows } = await api.sql.query('SELECT sum(amount)::int AS used FROM usage_entries WHERE scope = $1', [id]);
    expect(rows).toEqual([{ used: 31 * 2 + 1 }]);
  });

  it('are in the order of commits: what a reader has seen, nothing comes before', async () => {
    const id = await makeWorkbook(owner.client, 'In order');
    let writing = true;
    const seen: number[] = [];
    const reader = (async () => {
      while (writing) seen.push((await numbers('outbox', 'seq', id)).length);
    })();
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        for (let i = 0; i < 10; i++) await note(id, jobCompleted({ id: 'job', kind: 'ingest' }, 'succeeded'));
      }),
    );
    writing = false;
    await reader;
    // At every moment the numbers 1…n were there without a hole: n was also the highest.
    expect(await numbers('outbox', 'seq', id)).toEqual(upTo(50));
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it('a change of two journals locks them in one order: no two wait for each other', async () => {
    const [a, b] = [await makeWorkbook(owner.client, 'A'), await makeWorkbook(owner.client, 'B')];
    const both = (first: string, second: string) =>
      commit(
        api.services,
        actor,
        async (tx) => {
          tx.note(first, workbookConfigured(first, []));
          tx.note(second, workbookConfigured(second, []));
        },
        async () => true,
      );
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 2 ? both(a, b) : both(b, a))));
    expect(outcomes).toEqual(Array(30).fill(true));
    expect([await isValid(a), await isValid(b)]).toEqual([true, true]);
  });
});
