import { requireWorkbook } from '../../activities/access.ts';
import { checkVersion } from '../../activities/rows/checkVersion.ts';
import { beginAnalysis } from '../../activities/sources/beginAnalysis.ts';
import { beginMaterialize } from '../../activities/sources/beginMaterialize.ts';
import { correctSpec } from '../../activities/sources/correctSpec.ts';
import { requireSource } from '../../activities/sources/requireSource.ts';
import { requireEditable } from '../../activities/tables/editTable.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import { openVisibleColumns } from '../../activities/tables/openVisibleTable.ts';
import { notFound } from '../../core/errors.ts';
import type { AppendTarget } from '../../core/jobs/sourceJobs.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findSourceById, type SourceRecord } from '../../store/pg/sources.ts';
import type { Call, Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentSpec } from '../presenters/sources.ts';
import { answerJob } from './answerJobs.ts';

/** The staged way: analyze, correct, materialize. */
export function makeStagedHandlers({
  services,
}: ApiParts): Handlers<'analyzeSource' | 'getParseSpec' | 'putParseSpec' | 'materializeSource'> {
  const notAnalyzed = () => notFound('parse spec yet', 'Analyze the source first with POST …/sources/{source_name}/analyze.');

  /** Looked at before the work begins, so that what is plainly wrong is said at once; the work itself looks again. */
  const checkTarget = async (call: Call<'materializeSource'>, workbookId: string): Promise<AppendTarget | null> => {
    const { target, column_mapping: mapping } = call.body ?? {};
    if (target?.mode !== 'append') return null;
    const at = await requireTable(services, workbookId, target.table as string);
    requireEditable(at);
    const { columns } = await openVisibleColumns(services, call.principal, at);
    const expectedVersion = target.expected_version ?? null;
    await checkVersion(services, at, expectedVersion, columns, null);
    return { table: at.table.name, expectedVersion, mapping: mapping ?? {} };
  };

  return {
    async analyzeSource(call) {
      const { source } = await requireSource(services, call.principal, call.params, 'editor');
      return call.handOver(call.actor(), async (tx) => ({ job: await beginAnalysis(tx, source.id) }), {
        answer: async () => ({
          status: 200,
          body: presentSpec((await findSourceById(services.db.orm, source.id)) as SourceRecord),
        }),
      });
    },

    async getParseSpec({ principal, params }) {
      const { source } = await requireSource(services, principal, params, 'viewer');
      if (!source.spec) throw notAnalyzed();
      return { status: 200, body: presentSpec(source) };
    },

    async putParseSpec(call) {
      const { source } = await requireSource(services, call.principal, call.params, 'editor');
      if (!source.spec) throw notAnalyzed();
      return call.write(
        (tx) => correctSpec(tx, source.id, call.body),
        (corrected) => ({ status: 200, body: presentSpec(corrected) }),
      );
    },

    async materializeSource(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { source } = await requireSource(services, call.principal, call.params, 'editor');
      const begin = async (tx: Tx) => {
        // Here rather than before: whoever repeats the request waits for its job, and has moved the version by it.
        const append = await checkTarget(call, workbook.id);
        return { job: await beginMaterialize(tx, source.id, { regions: call.body?.regions ?? null, append }) };
      };
      return call.handOver(call.actor(), begin, {
        answer: async (job) => ({ status: 200, body: await answerJob(services, call.principal, job) }),
      });
    },
  };
}
