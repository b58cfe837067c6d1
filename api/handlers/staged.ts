import { requireWorkbook } from '../../activities/access.ts';
import { refuseHidden } from '../../activities/governance/refuseGoverned.ts';
import { beginAnalysis } from '../../activities/sources/beginAnalysis.ts';
import { beginMaterialize } from '../../activities/sources/beginMaterialize.ts';
import { checkAppend } from '../../activities/sources/checkAppend.ts';
import { correctSpec } from '../../activities/sources/correctSpec.ts';
import { requireAnalyzed, requireSource } from '../../activities/sources/requireSource.ts';
import { requireRoom } from '../../activities/storage/withRoom.ts';
import type { AppendTarget } from '../../core/jobs/sourceJobs.ts';
import type { Call, Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentSpec } from '../presenters/sources.ts';
import { answerJob } from './answerJobs.ts';

function readTarget({ target, column_mapping: mapping }: NonNullable<Call<'materializeSource'>['body']>): AppendTarget | null {
  if (target?.mode !== 'append') return null;
  return { table: target.table as string, expectedVersion: target.expected_version ?? null, mapping: mapping ?? {} };
}

/** The staged way: analyze, correct, materialize. */
export function makeStagedHandlers({
  services,
}: ApiParts): Handlers<'analyzeSource' | 'getParseSpec' | 'putParseSpec' | 'materializeSource'> {
  return {
    async analyzeSource(call) {
      const { source } = await requireSource(services, call.principal, call.params, 'editor');
      await refuseHidden(services, source);
      return call.handOver(call.actor(), async (tx) => ({ job: await beginAnalysis(tx, source.id) }), {
        answer: async (job) => ({ status: 200, body: await answerJob(services, call.principal, job) }),
      });
    },

    async getParseSpec({ principal, params }) {
      const { source } = await requireSource(services, principal, params, 'viewer');
      await refuseHidden(services, source);
      requireAnalyzed(source);
      return { status: 200, body: presentSpec(source) };
    },

    async putParseSpec(call) {
      const { source } = await requireSource(services, call.principal, call.params, 'editor');
      await refuseHidden(services, source);
      requireAnalyzed(source);
      return call.write(
        (tx) => correctSpec(tx, source.id, call.body),
        (corrected) => ({ status: 200, body: presentSpec(corrected) }),
      );
    },

    async materializeSource(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { source } = await requireSource(services, call.principal, call.params, 'editor');
      const { regions = null } = call.body ?? {};
      const target = call.body ? readTarget(call.body) : null;
      return call.handOver(
        call.actor(),
        async (tx) => {
          // Checked here, not earlier: a repeated request waits for its job, which may already have changed the version.
          await requireRoom(services, workbook.accountId, 1);
          const append = target && (await checkAppend(services, call.principal, workbook.id, target));
          return { job: await beginMaterialize(tx, source.id, { regions, append }) };
        },
        { answer: async (job) => ({ status: 200, body: await answerJob(services, call.principal, job) }) },
      );
    },
  };
}
