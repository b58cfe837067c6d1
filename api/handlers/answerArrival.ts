import type { receiveFile } from '../../activities/sources/receiveFile.ts';
import { registerSource } from '../../activities/sources/registerSource.ts';
import { DomainError } from '../../core/errors.ts';
import type { IngestInput } from '../../core/jobs/sourceJobs.ts';
import type { SourceProvenance } from '../../schema/index.ts';
import type { Services } from '../../store/services.ts';
import type { Call, Reply } from '../http/call.ts';
import { answerIngest, answerSource, hasLanded } from './answerJobs.ts';
import { noticeHeaders } from './noticeHeaders.ts';

/** What a request says about the file that it brings or names. */
interface Wanted {
  mode?: 'auto' | 'staged';
  structuring?: IngestInput['structuring'] | null;
  async?: boolean;
}

/** Before the file is fetched or read. */
export function checkWanted({ mode, async: isAsync }: Wanted): void {
  if (isAsync && mode === 'staged')
    throw new DomainError('validation-failed', '/async: goes with mode auto only.', 'Leave `async` out: a staged upload is quick.', {
      errors: [{ pointer: '/async', detail: 'goes with mode `auto` only' }],
    });
}

/** Registers a stored file as a source, has it ingested, and answers as for an upload. */
export function answerArrival<Id extends 'uploadSource' | 'ingestUrl' | 'importCloudFile'>(
  services: Services,
  asking: Pick<Call<Id>, 'principal' | 'actor' | 'handOver'>,
  file: Awaited<ReturnType<typeof receiveFile>>,
  { mode = 'auto', structuring: wantedStructuring, async: isAsync = false }: Wanted,
  provenance: Omit<SourceProvenance, 'at'>,
): Promise<Reply<'uploadSource'>> {
  // In the contract they all answer the same.
  const call = asking as unknown as Pick<Call<'uploadSource'>, 'principal' | 'actor' | 'handOver'>;
  const structuring = wantedStructuring ?? 'auto';
  return call.handOver(
    call.actor(),
    async (tx) => {
      const arrival = { ...file, mode, structuring, provenance, announce: isAsync || structuring === 'defer' };
      const { source, job, existed, joined } = await registerSource(tx, arrival);
      if (job) return { job, joined };
      const body = await answerSource(services, call.principal, tx.orm, source);
      return {
        reply: existed
          ? { status: 200, headers: noticeHeaders(body), body }
          : { status: 201, headers: locate(file.workbook.id, source.name), body },
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
          : { status: 201, headers: { ...locate(file.workbook.id, body.source.name), ...noticeHeaders(body) }, body };
      },
    },
  );
}

function locate(workbookId: string, name: string): { Location: string } {
  return { Location: `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent(name)}` };
}
