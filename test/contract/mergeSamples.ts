import { expect } from 'vitest';
import type { OperationId } from '../../api/http/contract.ts';
import { editRows } from '../setup/tables.ts';
import { makeForm, type SentForm } from './forms.ts';
import type { MakeSample } from './sample.ts';
import { makeSampleTable, type SampleTable } from './tableSamples.ts';
import type { World } from './world.ts';

/** Exports a table as csv and records the branch. */
async function branchOff({ api, owner }: World, { workbook, name }: SampleTable): Promise<string> {
  const answer = await api.fetch(`${workbook}/export`, {
    method: 'POST',
    token: owner.session,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ tables: [name], format: 'csv', record_branch: true }),
  });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  return answer.headers.get('x-svc-branch-id') ?? '';
}

function returnFile(branchId: string): SentForm {
  const content = '品目,数,__svc_row_id\nりんご,5,1\nみかん,2,2\nぶどう,7,\n';
  return { fields: { branch_id: branchId, actor: '佐藤' }, files: [{ name: '表.csv', content }] };
}

async function makeReturned(world: World) {
  const made = await makeSampleTable(world);
  const branchId = await branchOff(world, made);
  return { ...made, form: returnFile(branchId) };
}

/** An open conflict of its own. */
export async function makeConflict(world: World): Promise<{ path: string; id: string; made: SampleTable }> {
  const { api, owner, workbook } = world;
  const made = await makeReturned(world);
  await editRows(owner.client, workbook, made.name, [{ __svc_row_id: 1, 数: 9 }]);
  const answer = await api.fetch(`${made.table}/merge`, { method: 'POST', token: owner.session, body: makeForm(made.form) });
  const { conflicts } = (await answer.json()) as { conflicts: string[] };
  const [id = ''] = conflicts;
  return { path: `${made.workbook}/conflicts/${id}/resolve`, id, made };
}

export const mergeSamples = {
  async mergeTable(world) {
    const { table, form } = await makeReturned(world);
    return { path: `${table}/merge`, form };
  },
  async syncFile(world) {
    const { workbook, form } = await makeReturned(world);
    return { path: `${workbook}/sync`, form };
  },
  async listConflicts(world) {
    const { made } = await makeConflict(world);
    return { path: `${made.workbook}/conflicts` };
  },
  async resolveConflict(world) {
    return { path: (await makeConflict(world)).path, body: { action: 'revert', actor: '佐藤' } };
  },
} satisfies Partial<Record<OperationId, MakeSample>>;
