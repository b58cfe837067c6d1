import type { Notes } from '../../core/journal/notes.ts';
import { checkChain } from '../../store/pg/audit.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import { makeId } from '../../store/services.ts';
import { ok, startTestApi } from '../setup/api.ts';

/** Somebody with a journal, and ways to read it, check it and write to it. */
export async function startAudit() {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  const owner = await api.signUp('Owner');
  const accountId = ok(await owner.client.GET('/api/v1/me')).account_id;
  const readLog = async (workbookId: string, limit = 1000) =>
    ok(
      await owner.client.GET('/api/v1/workbooks/{workbook_id}/audit-log', {
        params: { path: { workbook_id: workbookId }, query: { limit } },
      }),
    );
  const isValid = async (workbookId: string) => (await readLog(workbookId, 1)).chain_valid;
  const rename = async (workbookId: string, title: string) =>
    ok(await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: workbookId } }, body: { title } }));
  const isChainValid = async (scope: string, pads = api.services.auditPads) =>
    (await checkChain(api.services.db, scope, pads, null))?.whole ?? false;
  const isAccountValid = () => isChainValid(accountId);

  const actor: Actor = { name: '佐藤 "the" \\ test', userId: null, credential: 'none', requestId: makeId('req') };
  /** As later endpoints will write: through the one helper. */
  const note = (scope: string, notes: Notes) =>
    commit(
      api.services,
      { ...actor, requestId: makeId('req') },
      async (tx) => tx.note(scope, notes),
      async (_, numbers) => numbers.get(scope),
    );
  return { api, owner, accountId, readLog, isValid, rename, isChainValid, isAccountValid, actor, note };
}
