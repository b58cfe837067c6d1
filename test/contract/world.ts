import { startWorker } from '../../activities/worker.ts';
import { type Scope, scopes } from '../../core/access/scopes.ts';
import type { IdPrefix } from '../../core/ids/ids.ts';
import type { JobKind } from '../../core/jobs/kinds.ts';
import type { Actor } from '../../store/pg/commit.ts';
import { commit } from '../../store/pg/commit.ts';
import { insertJob } from '../../store/pg/jobs.ts';
import { makeId } from '../../store/services.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace, mintKey } from '../setup/credentials.ts';

/** What the samples of all operations are about: one account, two workspaces, a workbook, and people around it. */
export interface World {
  api: TestApi;
  owner: Person;
  /** A viewer of `team`. */
  viewer: Person;
  /** Somebody who has nothing to do with any of it. */
  stranger: Person;
  accountId: string;
  personal: string;
  team: string;
  elsewhere: string;
  /** In `team`. */
  workbook: string;
  /** A key of the account that is pinned to `elsewhere`, with every scope. */
  pinnedKey: string;
}

/** An API with a worker beside it: some samples need work to be done. */
export async function startWorkingApi(env: Record<string, string> = {}): Promise<TestApi> {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off', ...env });
  const worker = await startWorker(api.config);
  return {
    ...api,
    async stop() {
      await worker.stop();
      await api.stop();
    },
  };
}

export async function makeWorld(api: TestApi): Promise<World> {
  const owner = await api.signUp('Olivia');
  const viewer = await api.signUp('Victor');
  const stranger = await api.signUp('Stranger');
  const me = ok(await owner.client.GET('/api/v1/me'));
  const team = await makeWorkspace(owner.client, 'Team');
  const elsewhere = await makeWorkspace(owner.client, 'Elsewhere');
  const workbook = await makeWorkbook(owner.client, 'Budget', team);
  ok(
    await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
      params: { path: { workspace_id: team } },
      body: { email: viewer.email, role: 'viewer' },
    }),
  );
  const pinned = await mintKey(owner.client, { scopes: [...scopes], workspace_id: elsewhere });
  return {
    api,
    owner,
    viewer,
    stranger,
    accountId: me.account_id,
    personal: me.workspace_id ?? '',
    team,
    elsewhere,
    workbook,
    pinnedKey: pinned.text,
  };
}

/** An id that looks right and names nothing. */
export function unknownId(prefix: IdPrefix): string {
  return `${prefix}_${'0'.repeat(26)}`;
}

export function allScopesBut(...without: Scope[]): Scope[] {
  // Where reading is withheld, writing must be too: it implies reading.
  const gone = without.includes('workbooks:read') ? [...without, 'workbooks:write'] : without;
  return scopes.filter((scope) => !gone.includes(scope));
}

const service: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };

export interface JobSeed {
  accountId: string;
  userId: string;
  workbookId: string | null;
  kind?: JobKind;
  status?: 'pending' | 'running' | 'succeeded' | 'failed';
  workflowId?: string;
  result?: Record<string, unknown>;
  finishedAt?: Date;
}

/** A job row as the starter of a workflow writes it. */
export async function makeJob(api: TestApi, seed: JobSeed): Promise<string> {
  const id = makeId('job');
  return commit(
    api.services,
    service,
    (tx) => insertJob(tx, { id, kind: 'recompute', status: 'running', workflowId: `test-${id}`, createdAt: tx.at, ...seed }),
    async () => id,
  );
}
