import { afterAll } from 'vitest';
import { startWorker } from '../../activities/worker.ts';
import type { components } from '../../schema/contract.ts';
import { type ApiClient, ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace } from '../setup/credentials.ts';
import { makeTable } from '../setup/tables.ts';

type Schemas = components['schemas'];
export type ServiceEvent = Schemas['ServiceEvent'];
export type EventKind = Schemas['EventKind'];

export interface WebhookWorld {
  api: TestApi;
  owner: Person;
  accountId: string;
  /** A workspace of the owner. */
  team: string;
  /** A workbook in `team` with the table 表 and its column a. */
  makeBook(title?: string, client?: ApiClient): Promise<string>;
  addMember(person: Person, role: 'viewer' | 'editor'): Promise<void>;
}

/** An API with a worker that may call receivers on this machine. Called at the top of a file. */
export async function useWebhookWorld(env: Record<string, string> = {}): Promise<WebhookWorld> {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off', ...env });
  const worker = await startWorker(api.config);
  afterAll(async () => {
    await worker.stop();
    await api.stop();
  });
  const owner = await api.signUp('Owner');
  const team = await makeWorkspace(owner.client, 'Team');
  return {
    api,
    owner,
    team,
    accountId: ok(await owner.client.GET('/api/v1/me')).account_id,
    async makeBook(title = 'Book', client = owner.client) {
      const id = await makeWorkbook(client, title, team);
      await makeTable(client, id, '表', [{ name: 'a', type: 'BIGINT' }]);
      return id;
    },
    async addMember(person, role) {
      ok(
        await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
          params: { path: { workspace_id: team } },
          body: { email: person.email, role },
        }),
      );
    },
  };
}

/** All events of a workbook that the caller may see, page by page. */
export async function readEvents(client: ApiClient, workbookId: string, events?: EventKind[]): Promise<ServiceEvent[]> {
  const found: ServiceEvent[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = { workbook_id: workbookId, limit: 3, cursor, ...(events ? { events } : {}) };
    const page = ok(await client.GET('/api/v1/me/events', { params: { query } })) as Schemas['EventList'];
    found.push(...page.events);
    if (page.next_cursor === null) return found;
    cursor = page.next_cursor;
  }
}
