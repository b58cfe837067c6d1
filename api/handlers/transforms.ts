import { requireWorkbook } from '../../activities/access.ts';
import { beginRecompute } from '../../activities/transforms/beginRecompute.ts';
import { beginCreation, beginRun } from '../../activities/transforms/beginTransformJob.ts';
import { checkDefinition, type WantedTransform } from '../../activities/transforms/defineTransform.ts';
import { describeSaved, describeTransforms, pageTransforms, requireTransform } from '../../activities/transforms/describeTransforms.ts';
import { removeTransform } from '../../activities/transforms/removeTransform.ts';
import { bindTransform, saveTransform } from '../../activities/transforms/saveTransform.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { Call, Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentTransform, presentUnrun } from '../presenters/transforms.ts';
import { answerJob } from './answerJobs.ts';
import { parseExpectedVersion } from './tables.ts';

function readWanted({ name, language, template, args, output, key, materialize }: Call<'createTransform'>['body']): WantedTransform {
  return { name, language, template, args, output: output ?? null, key: key ?? null, materialize: materialize ?? 'table' };
}

type TransformOperations = 'listTransforms' | 'createTransform' | 'getTransform' | 'deleteTransform' | 'runTransform' | 'recomputeWorkbook';

export function makeTransformHandlers({ services }: ApiParts): Handlers<TransformOperations> {
  const locate = (workbookId: string, name: string) => ({
    Location: `/api/v1/workbooks/${workbookId}/transforms/${encodeURIComponent(name)}`,
  });

  return {
    async listTransforms({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageTransforms(services, principal, workbook.id, query);
      return { status: 200, body: { transforms: page.items.map(presentTransform), next_cursor: page.nextCursor } };
    },

    async createTransform(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const wanted = readWanted(call.body);
      const actor = call.actor(call.body.actor);
      if (call.body.run === false) {
        const checked = await checkDefinition(services, workbook.id, wanted);
        await bindTransform(services, call.principal, checked);
        return call.writeAs(actor)(
          async (tx) => describeSaved(await saveTransform(tx, workbook, checked), wanted.args),
          (described) =>
            checked.replaced
              ? { status: 200, body: presentUnrun(described) }
              : { status: 201, headers: locate(workbook.id, described.transform.name), body: presentUnrun(described) },
        );
      }
      return call.handOver(
        actor,
        async (tx) => {
          // Checked here, not earlier: a repeated request waits for its job, which may have made the output already.
          return { job: await beginCreation(tx, workbook, await checkDefinition(services, workbook.id, wanted)) };
        },
        {
          answer: async (job) => {
            const { result } = job as JobRecord<'transform'>;
            const body = await answerJob<never>(services, call.principal, job);
            return result?.created ? { status: 201, headers: locate(workbook.id, wanted.name), body } : { status: 200, body };
          },
        },
      );
    },

    async getTransform({ principal, params }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const transform = await requireTransform(services, workbook.id, params.name);
      const [described] = await describeTransforms(services, principal, [transform]);
      return { status: 200, body: presentTransform(described as NonNullable<typeof described>) };
    },

    async deleteTransform(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const expectedVersion = parseExpectedVersion(call.query.expected_version);
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      return removeTransform(services, call.writeAs(call.actor(call.query.actor)), call.principal, request, () => ({ status: 204 }));
    },

    async recomputeWorkbook(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      return call.handOver(call.actor(), (tx) => beginRecompute(tx, workbook), {
        answer: async (job) => ({ status: 200, body: await answerJob(services, call.principal, job) }),
      });
    },

    async runTransform(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { id } = await requireTransform(services, workbook.id, call.params.name);
      return call.handOver(call.actor(call.body?.actor), async (tx) => ({ job: await beginRun(tx, workbook, id) }), {
        answer: async (job) => ({ status: 200, body: await answerJob(services, call.principal, job) }),
      });
    },
  };
}
