import { requireWorkbook } from '../../activities/access.ts';
import { refuseGoverned } from '../../activities/governance/refuseGoverned.ts';
import { describeSource } from '../../activities/sources/describeSources.ts';
import { pageSources } from '../../activities/sources/pageSources.ts';
import { drawSource, previewSource } from '../../activities/sources/previewSource.ts';
import { receiveFile } from '../../activities/sources/receiveFile.ts';
import { requireSource } from '../../activities/sources/requireSource.ts';
import { reviseSource } from '../../activities/sources/reviseSource.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentSource } from '../presenters/sources.ts';
import { answerArrival, checkWanted } from './answerArrival.ts';
import { answerIngest, answerSource } from './answerJobs.ts';

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
      checkWanted(call.body);
      const file = await receiveFile(services, call.principal.userId, workbook, call.file);
      return answerArrival(services, call, file, call.body, { kind: 'upload' });
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
      const { format = 'json', ...wanted } = query;
      if (format !== 'json') {
        const type = format === 'svg' ? 'image/svg+xml' : 'image/png';
        return { status: 200, raw: { type, data: await drawSource(services, principal.userId, source, { ...wanted, as: format }) } };
      }
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
