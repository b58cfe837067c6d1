import type { components } from '../../schema/contract.ts';
import { type ApiClient, ok } from './api.ts';

type Effect = components['schemas']['Effect'];
const base = '/api/v1/workbooks/{workbook_id}' as const;

export async function tagColumn(client: ApiClient, workbookId: string, name: string, column: string, tag: string) {
  const params = { path: { workbook_id: workbookId, name, column } };
  return ok(await client.POST(`${base}/artifacts/{name}/columns/{column}/tags`, { params, body: { tag } }));
}

export function untagColumn(client: ApiClient, workbookId: string, name: string, column: string, tag: string) {
  const params = { path: { workbook_id: workbookId, name, column, tag } };
  return client.DELETE(`${base}/artifacts/{name}/columns/{column}/tags/{tag}`, { params });
}

export async function setPolicy(client: ApiClient, workbookId: string, tag: string, effect: Effect, role = '*') {
  const params = { path: { workbook_id: workbookId, tag } };
  return ok(await client.PUT(`${base}/policies/{tag}`, { params, body: { effect, role } }));
}

/** Hides columns of a table from everybody, by a tag and a rule for each effect. */
export async function hideColumns(client: ApiClient, workbookId: string, name: string, effects: Record<string, 'mask' | 'deny'>) {
  for (const [column, effect] of Object.entries(effects)) {
    await tagColumn(client, workbookId, name, column, `to ${effect}`);
    await setPolicy(client, workbookId, `to ${effect}`, effect);
  }
}

/** Takes the rules away. The tags stay, which do nothing without. */
export async function showColumns(client: ApiClient, workbookId: string): Promise<void> {
  const { policies } = ok(await client.GET(`${base}/policies`, { params: { path: { workbook_id: workbookId } } }));
  for (const tag of new Set(policies.map((policy) => policy.tag)))
    await client.DELETE(`${base}/policies/{tag}`, { params: { path: { workbook_id: workbookId, tag } } });
}
