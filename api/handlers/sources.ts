import { requireWorkbook } from '../../activities/access.ts';
import { refuseGoverned } from '../../activities/governance/refuseGoverned.ts';
import { describeSource } from '../../activities/sources/describeSources.ts';
import { pageSources } from '../../activities/sources/pageSources.ts';
import { previewSource } from '../../activities/sources/previewSource.ts';
import { receiveFile } from '../../activities/sources/receiveFile.ts';
import { registerSource } from '../../activities/sources/registerSource.ts';
import { requireSource } from '../../activities/sources/requireSource.ts';
import { reviseSource } from '../../activities/sources/reviseSource.ts';
import { DomainError } from '../../core/errors.ts';
import type { IngestInput } from '../../core/jobs/sourceJobs.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentSource } from '../presenters/sources.ts';
import { answerIngest, answerSource, hasLanded } from './answerJobs.ts';
import { noticeHeaders } from './noticeHeaders.ts';

type SourceOperations = 'listSources' | 'uploadSource' | 'getSource' | 'downloadSource' | 'previewSource' | 'reviseSource';

/** What a preview takes while it is made. */
const previewBytes = 16 * 1024 * 1024;

export function makeSourceHandlers({ services }: ApiParts): Handlers<SourceOperations> {
  return {
    async listSources({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageSources(services, workbook.id, query);
      return { status: 200, body: { sources: page.items.map(presentSource), next_cursor: page.nextCursor } };
    },

    async uploadSource(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { mode = 'auto', async: isAsync = false } = call.body;
      if (isAsync && mode === 'staged')
        throw new DomainError('validation-failed', '/async: goes with mode auto only.', 'Leave `async` out: a staged upload is quick.', {
          errors: [{ pointer: '/async', detail: 'goes with mode `auto` only' }],
        });
      const structuring: IngestInput['structuring'] = call.body.structuring ?? 'auto';
      const file = await receiveFile(services, call.principal.userId, workbook, call.file);
      return call.handOver(
        call.actor(),
        async (tx) => {
          const arrival = {
            ...file,
            mode,
            structuring,
            provenance: { kind: 'upload' as const },
            announce: isAsync || structuring === 'defer',
          };
          const { source, job, existed, joined } = await registerSource(tx, arrival);
          if (job) return { job, joined };
          const body = await answerSource(services, call.principal, tx.orm, source);
          return {
            reply: existed
              ? { status: 200, headers: noticeHeaders(body), body }
              : { status: 201, headers: locate(workbook.id, source.name), body },
          };
        },
        {
          async: isAsync,
          isReady: hasLanded,
          answer: async (job, joined) => {
            const answered = await answerIngest(services, call.principal, job);
            const body = joined ? { ...answered, credits_charged: 0 } : answered;
            return job.kind === 'ingest' && job.input.existed
              ? { status: 200, headers: noticeHeaders(body), body }
              : { status: 201, headers: { ...locate(workbook.id, body.source.name), ...noticeHeaders(body) }, body };
          },
        },
      );
    },

    async getSource({ principal, params }) {
      const { source } = await requireSource(services, principal, params, 'viewer');
      return { status: 200, body: presentSource(await describeSource(services.db.orm, source)) };
    },

    async downloadSource({ principal, params }) {
      const { workbook, source } = await requireSource(services, principal, params, 'viewer');
      await refuseGoverned(services, workbook.id);
      return {
        status: 200,
        headers: {
          'Content-Length': String(source.size),
          'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(source.filename).replaceAll("'", '%27')}`,
        },
        raw: { type: source.contentType, data: await services.blobs.read(source.blobKey), isOriginal: true },
      };
    },

    async previewSource({ principal, params, query, takeRoom }) {
      const { workbook, source } = await requireSource(services, principal, params, 'viewer');
      await refuseGoverned(services, workbook.id);
      await takeRoom(previewBytes);
      return { status: 200, raw: { type: 'application/json', data: await previewSource(services, principal.userId, source, query) } };
    },

    async reviseSource(call) {
      const { workbook, source } = await requireSource(services, call.principal, call.params, 'editor');
      await refuseGoverned(services, workbook.id);
      const file = await receiveFile(services, call.principal.userId, workbook, call.file);
      return call.handOver(
        call.actor(call.body.actor),
        async (tx) => {
          const { source: now, job } = await reviseSource(tx, source.id, file);
          return job ? { job } : { reply: { status: 200, body: await answerSource(services, call.principal, tx.orm, now) } };
        },
        { answer: async (job) => ({ status: 200, body: await answerIngest(services, call.principal, job) }) },
      );
    },
  };
}

function locate(workbookId: string, name: string): { Location: string } {
  return { Location: `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent(name)}` };
}
