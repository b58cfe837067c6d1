import { requireWorkbook } from '../../activities/access.ts';
import { describeVersions, pageSnapshots, pageVersions } from '../../activities/snapshots/pageSnapshots.ts';
import { requireCommitted, requireVersion } from '../../activities/snapshots/restoreSnapshot.ts';
import { type BegunRestore, restoreWorkbook } from '../../activities/snapshots/restoreWorkbook.ts';
import { saveSnapshot, saveVersion } from '../../activities/snapshots/saveSnapshot.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { components } from '../../schema/contract.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentListed, presentRestored, presentSnapshot, presentVersion } from '../presenters/snapshots.ts';
import { answerJob } from './answerJobs.ts';

type SnapshotOperations =
  | 'listSnapshots'
  | 'commitSnapshot'
  | 'restoreSnapshot'
  | 'listVersions'
  | 'createVersion'
  | 'getVersion'
  | 'revertVersion';

export function makeSnapshotHandlers({ services }: ApiParts): Handlers<SnapshotOperations> {
  const begin = (work: (tx: Tx) => Promise<BegunRestore>) => async (tx: Tx) => {
    const { restored, job } = await work(tx);
    return job ? { job } : { reply: { status: 200 as const, body: presentRestored(restored) } };
  };
  const answer = (principal: Principal) => async (job: JobRecord) => ({
    status: 200 as const,
    body: await answerJob<components['schemas']['RestoreResponse']>(services, principal, job),
  });

  return {
    async listSnapshots({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageSnapshots(services, workbook, query);
      return { status: 200, body: { snapshots: page.items.map(presentListed), next_cursor: page.nextCursor } };
    },

    async commitSnapshot(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const wanted = { summary: call.body.summary, eventType: call.body.event_type };
      return saveSnapshot(services, call.principal, call.write, workbook, wanted, ({ snapshot, tables }) => ({
        status: 201,
        body: presentSnapshot(snapshot, tables, []),
      }));
    },

    async restoreSnapshot(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const snapshot = await requireCommitted(services, workbook, call.params.snapshot_id);
      return restoreWorkbook(services, (work) => call.handOver(call.actor(), begin(work), { answer: answer(call.principal) }), workbook, {
        snapshot,
        label: null,
      });
    },

    async listVersions({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageVersions(services, workbook.id, query);
      return { status: 200, body: { versions: page.items.map(presentVersion), next_cursor: page.nextCursor } };
    },

    async createVersion(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const wanted = { label: call.body.label, summary: call.body.summary ?? null };
      return saveVersion(services, call.principal, call.write, workbook, wanted, (saved) => ({
        status: 201,
        headers: { Location: `/api/v1/workbooks/${workbook.id}/versions/${encodeURIComponent(saved.version.label)}` },
        body: presentVersion(saved),
      }));
    },

    async getVersion({ principal, params }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const { version } = await requireVersion(services, workbook, params.label);
      const [described] = await describeVersions(services, [version]);
      return { status: 200, body: presentVersion(described ?? { version, tables: [] }) };
    },

    async revertVersion(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { version, snapshot } = await requireVersion(services, workbook, call.params.label);
      return restoreWorkbook(services, (work) => call.handOver(call.actor(), begin(work), { answer: answer(call.principal) }), workbook, {
        snapshot,
        label: version.label,
      });
    },
  };
}
