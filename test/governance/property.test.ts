import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { decideEffect, indexRules, type PolicyEffect, type PolicyRule } from '../../core/policy/decideEffect.ts';
import { parseCsv } from '../formats/readBack.ts';
import { ok, type Person } from '../setup/api.ts';
import { makeWorkspace } from '../setup/credentials.ts';
import { makeTable } from '../setup/tables.ts';
import { openTestStore } from '../tables/store.ts';

/**
 * Random tags, rules and roles, set through the API: what every way of reading shows is what `core/policy` says. The table has
 * one column for each set of tags that is drawn.
 */

const store = await openTestStore();
afterAll(() => store.stop());
const { api, owner } = store;
const { client } = owner;
const base = '/api/v1/workbooks/{workbook_id}' as const;

const member = await api.signUp();
const team = await makeWorkspace(client, 'Team');
ok(
  await client.POST('/api/control/workspaces/{workspace_id}/users', {
    params: { path: { workspace_id: team } },
    body: { email: member.email, role: 'viewer' },
  }),
);

const tag = fc.constantFrom('pii', 'hr', 'money');
const customRoles = ['経理', '人事'];
const role = fc.constantFrom('*', 'viewer', 'admin', ...customRoles);
const rules = fc.uniqueArray(fc.record<PolicyRule>({ tag, role, effect: fc.constantFrom<PolicyEffect>('allow', 'mask', 'deny') }), {
  selector: (rule) => `${rule.tag} ${rule.role}`,
  minLength: 2,
  maxLength: 6,
});
const drawn = fc.record({
  tags: fc.array(fc.uniqueArray(tag, { maxLength: 2 }), { minLength: 2, maxLength: 3 }),
  rules,
  roles: fc.subarray(customRoles),
});

type Cells = Record<string, unknown>;

/** Readers, as the cells that they show of the one row, by column; null for what is listed without its value. */
const readers: Record<string, (book: string, who: Person) => Promise<Cells>> = {
  async rows(book, who) {
    const page = ok(await who.client.GET(`${base}/tables/{name}/rows`, named(book))) as { rows: Cells[] };
    return page.rows[0] ?? {};
  },
  async row(book, who) {
    const params = { path: { ...named(book).params.path, row_id: 1 } };
    return (ok(await who.client.GET(`${base}/tables/{name}/rows/{row_id}`, { params })) as unknown as { row: Cells }).row;
  },
  async query(book, who) {
    const params = { path: { workbook_id: book } };
    const answer = ok(await who.client.POST(`${base}/query`, { params, body: { sql: 'SELECT * FROM t' } }));
    return (answer as unknown as { rows: Cells[] }).rows[0] ?? {};
  },
  async range(book, who) {
    const { values } = ok(
      await who.client.GET(`${base}/tables/{name}/range`, { params: { ...named(book).params, query: { range: 'A1:Z2' } } }),
    );
    const [header = [], cells = []] = values as unknown[][];
    return Object.fromEntries(header.map((name, i) => [String(name), cells[i] ?? null]));
  },
  async history(book, who) {
    const params = { path: { ...named(book).params.path, row_id: 1 } };
    const { changes } = ok(await who.client.GET(`${base}/tables/{name}/rows/{row_id}/history`, { params }));
    return Object.fromEntries((changes.at(-1)?.cells ?? []).map((cell) => [cell.column, cell.new]));
  },
  async diff(book, who) {
    const params = { ...named(book).params, query: { from: '1', to: '2' } };
    const { inserted } = ok(await who.client.GET(`${base}/tables/{name}/diff`, { params }));
    return (inserted[0] as unknown as { row?: Cells })?.row ?? (inserted[0] as unknown as Cells);
  },
  async export(book, who) {
    const answer = await api.fetch(`/api/v1/workbooks/${book}/export`, {
      method: 'POST',
      token: who.session,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tables: ['t'], format: 'csv', csv_bom: false }),
    });
    const [header = [], cells = []] = parseCsv(await answer.text());
    return Object.fromEntries(header.map((name, i) => [name, cells[i] || null]));
  },
  async columns(book, who) {
    const { columns } = ok(await who.client.GET(`${base}/tables/{name}/columns`, named(book)));
    return Object.fromEntries(columns.map(({ name, masked }) => [name ?? '', masked ? null : `value of ${name}`]));
  },
  async access(book, who) {
    const { columns } = ok(await who.client.GET(`${base}/tables/{name}/access`, named(book)));
    return Object.fromEntries(
      columns
        .filter(({ effect }) => effect !== 'deny')
        .map(({ column, effect }) => [column, effect === 'mask' ? null : `value of ${column}`]),
    );
  },
};

const named = (book: string) => ({ params: { path: { workbook_id: book, name: 't' } } });

describe('for random tags, rules and roles', () => {
  it('every reader shows what core/policy says', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async ({ tags, rules: set, roles }) => {
        const book = ok(await client.POST('/api/v1/workbooks', { body: { title: 'Drawn', workspace_id: team } })).id;
        const names = ['c', ...tags.map((_, i) => `c${i}`)];
        const row = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
        await makeTable(
          client,
          book,
          't',
          names.map((name) => ({ name })),
          [row],
        );
        for (const [i, each] of tags.entries())
          for (const one of each) {
            const params = { path: { workbook_id: book, name: 't', column: `c${i}` } };
            ok(await client.POST(`${base}/artifacts/{name}/columns/{column}/tags`, { params, body: { tag: one } }));
          }
        for (const { tag: of, ...rule } of set)
          ok(await client.PUT(`${base}/policies/{tag}`, { params: { path: { workbook_id: book, tag: of } }, body: rule }));
        ok(
          await client.PUT('/api/control/workspaces/{workspace_id}/users/{user_id}/roles', {
            params: { path: { workspace_id: team, user_id: member.userId } },
            body: { roles },
          }),
        );
        for (const [who, held] of [[member, ['viewer', ...roles]] as const, [owner, ['admin']] as const]) {
          const asker = { roles: held, mayConfigure: who === owner };
          const expected = Object.fromEntries(
            names.flatMap((name, i): [string, unknown][] => {
              const { effect } = decideEffect(i === 0 ? [] : (tags[i - 1] ?? []), indexRules(set), asker);
              return effect === 'deny' ? [] : [[name, effect === 'mask' ? null : `value of ${name}`]];
            }),
          );
          for (const [what, read] of Object.entries(readers)) {
            const { __svc_row_id: _, ...shown } = await read(book, who);
            // Some leave out what is blank.
            const present = what === 'history' ? Object.fromEntries(Object.entries(expected).filter(([name]) => name in shown)) : expected;
            expect([what, held, shown]).toEqual([what, held, present]);
          }
        }
      }),
      { numRuns: 12 },
    );
  }, 240_000);
});
