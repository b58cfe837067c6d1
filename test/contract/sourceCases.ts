import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { slotAddress } from '../../activities/uploads/signSlot.ts';
import type { OperationId } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { commit } from '../../store/pg/commit.ts';
import { makeId } from '../../store/services.ts';
import { readCredits } from '../credits/readCredits.ts';
import { ok, type Person } from '../setup/api.ts';
import { makeWorkbook, mintToken } from '../setup/credentials.ts';
import { serveFile } from '../setup/fileServer.ts';
import { setPolicy, tagColumn } from '../setup/governance.ts';
import { makeBook } from '../xlsx/makeWorkbook.ts';
import type { Case } from './genericCases.ts';
import { makeSampleLink } from './linkSamples.ts';
import { makeAnalyzedSource, makeSampleFile, makeSampleSource, makeSlot, sourceSamples } from './sourceSamples.ts';
import { altered, body, changed, governed } from './tableCases.ts';
import { makeSampleTable } from './tableSamples.ts';
import { makeJob, type World } from './world.ts';

/** Somebody's work on the source goes on and on. */
export async function occupy({ api, accountId, owner, workbook }: World, path: string): Promise<void> {
  const name = decodeURIComponent(/sources\/([^/?]+)/.exec(path)?.[1] ?? '');
  const job = await makeJob(api, { accountId, userId: owner.userId, workbookId: workbook, kind: 'analyze' });
  await api.sql.query('UPDATE sources SET job_id = $1 WHERE workbook_id = $2 AND name = $3', [job, workbook, name]);
}

const busy: Case = changed(async (sample, world) => {
  await occupy(world, sample.path);
  return {};
});

/** Passes for a workbook until it is read. */
const withFile = (make: () => Uint8Array, tail: string): Case =>
  altered(async (_, world) => {
    const source = await makeSampleSource(world, { mode: 'staged' }, { name: `${makeId('src').slice(-12)}.xlsx`, content: make() });
    return { path: `${source.path}${tail}` };
  });

const cell = () => `<row r="1"><c r="A1" t="inlineStr"><is><t>${makeId('src')}</t></is></c></row>`;
/** Its directory says that the sheet is small. */
const makeBomb = () =>
  makeBook({
    sheets: [`${cell()}${' '.repeat(20_000_000)}`],
    change: (part) => (part.name.includes('sheet1') ? { ...part, claimedSize: 1 } : part),
  });
const makeOddlyPacked = () =>
  makeBook({ sheets: [cell()], change: (part) => (part.name.includes('sheet1') ? { ...part, method: 99 } : part) });

interface PoorOwner {
  session: string;
  source: string;
  link: string;
}
const poorOwners = new WeakMap<Person, Promise<PoorOwner>>();

/** Somebody who has structured a file, tracks another, and spent all that was left: the same for all who are refused for it. */
export function findPoorOwner(world: World): Promise<PoorOwner> {
  const found = poorOwners.get(world.owner) ?? makePoorOwner(world);
  poorOwners.set(world.owner, found);
  return found;
}

async function makePoorOwner({ api }: World): Promise<PoorOwner> {
  const person = await api.signUp('Poor');
  const workbook = await makeWorkbook(person.client, 'Spent');
  const { path } = await makeSampleSource({ api, owner: person, workbook }, {});
  const link = await makeSampleLink({ api, owner: person, workbook });
  await spendCredits(api, person);
  return { session: person.session, source: path, link: link.path };
}

/** All that somebody has left. */
export async function spendCredits({ services }: World['api'], person: Person): Promise<void> {
  const { account_id: accountId } = ok(await person.client.GET('/api/v1/me'));
  const { remaining } = await readCredits(services.db.pool, accountId);
  const actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };
  await commit(
    services,
    actor,
    (tx) => reserveCredits(tx, { accountId, workbookId: null, jobId: makeId('job'), amount: remaining }),
    async () => null,
  );
}

/** The spec of a source whose raw table has a tag, in a workbook with a policy. */
const tagged = (tail: string): Case =>
  altered(async (sample, world) => {
    const workbook = await makeWorkbook(world.owner.client, 'Governed', world.team);
    const { path } = await makeSampleSource({ ...world, workbook }, { structuring: 'skip' });
    const { tables } = ok(
      await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables', { params: { path: { workbook_id: workbook } } }),
    );
    await tagColumn(world.owner.client, workbook, tables[0]?.name ?? '', 'A', 'pii');
    await setPolicy(world.owner.client, workbook, 'pii', 'mask');
    return { ...sample, path: `${path}${tail}` };
  });

export const sourceCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  uploadSource: {
    'in-use': altered(async (_, world) => {
      const file = makeSampleFile();
      await occupy(world, (await makeSampleSource(world, { mode: 'staged' }, file)).path);
      return { form: { fields: {}, files: [file] } };
    }),
  },
  ingestUrl: {
    'url-refused': body({ url: 'http://10.0.0.1/a.csv' }),
    'in-use': altered(async (_, world) => {
      const { name, content } = makeSampleFile();
      await occupy(world, (await makeSampleSource(world, { mode: 'staged' }, { name, content })).path);
      return { body: { url: await serveFile(name, content) } };
    }),
  },
  analyzeSource: {
    'governed-workbook': tagged('/analyze'),
    'in-use': busy,
    'too-large': withFile(makeBomb, '/analyze'),
    'unsupported-media': withFile(makeOddlyPacked, '/analyze'),
  },
  downloadSource: { 'governed-workbook': governed(sourceSamples.downloadSource) },
  getParseSpec: { 'governed-workbook': tagged('/parse-spec') },
  previewSource: {
    'governed-workbook': governed(sourceSamples.previewSource),
    'too-large': withFile(makeBomb, '/preview'),
    'unsupported-media': withFile(makeOddlyPacked, '/preview'),
  },
  putParseSpec: { 'governed-workbook': tagged('/parse-spec'), 'version-conflict': body({ version: 99 }), 'in-use': busy },
  materializeSource: {
    'uncastable-value': altered(async (_, world) => {
      const { path, spec } = await makeAnalyzedSource(world);
      for (const column of spec.regions[0]?.columns ?? []) column.type = 'BIGINT';
      const answer = await world.api.fetch(`${path}/parse-spec`, {
        method: 'PUT',
        token: world.owner.session,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(spec),
      });
      if (answer.status !== 200) throw new Error(`the spec was answered ${answer.status}: ${await answer.text()}`);
      return { path: `${path}/materialize`, body: {} };
    }),
    'version-conflict': altered(async (_, world) => {
      const { name } = await makeSampleTable(world);
      return { body: { target: { mode: 'append', table: name, expected_version: 1 } } };
    }),
    'in-use': altered(async (_, world) => ({ path: `${(await makeSampleSource(world)).path}/materialize`, body: {} })),
  },
  reviseSource: {
    'governed-workbook': governed(sourceSamples.reviseSource),
    'in-use': busy,
    'out-of-credits': altered(async (_, world) => {
      const { session, source } = await findPoorOwner(world);
      return { path: `${source}/revise`, token: session };
    }),
  },
  reviewWorkbook: {
    'out-of-credits': altered(async (_, world) => {
      const { session, source } = await findPoorOwner(world);
      return { path: source.replace(/\/sources\/.*/, '/review'), token: session, body: { mode: 'agent' } };
    }),
  },
  putUpload: {
    'bad-signature': altered(({ path }) => ({ path: path.replace(/expires=(\d+)/, (_, end) => `expires=${Number(end) + 1}`) })),
    'outside-reach': altered(async (_, world) => {
      const { api, owner } = world;
      const token = await mintToken(owner.client, { scopes: ['workbooks:write'] });
      const { path } = await makeSlot({ ...world, owner: { ...owner, client: api.as(token.text) } });
      ok(await owner.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: token.id } } }));
      return { path };
    }),
    'not-found': altered(async (_, world) => {
      const { owner, team } = world;
      const workbook = await makeWorkbook(owner.client, 'To go', team);
      const { path } = await makeSlot({ ...world, workbook });
      const gone = await owner.client.DELETE('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: workbook } } });
      if (!gone.response.ok) throw new Error(`the workbook was answered ${gone.response.status}`);
      return { path };
    }),
    'in-use': changed(async (sample, { api }) => {
      await api.fetch(sample.path, { method: 'PUT', body: makeSampleFile().content as string });
      return {};
    }),
    expired: altered(async (_, world) => {
      const { upload_id: id } = await makeSlot(world);
      const { pathname, search } = new URL(slotAddress(world.api.services, { id, expiresAt: new Date(Date.now() - 5_000) }));
      return { path: `${pathname}${search}` };
    }),
    'unsupported-media': altered(async (_, world) => ({ path: (await makeSlot(world, 'sales.xls')).path })),
  },
};
