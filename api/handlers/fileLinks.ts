import { requireWorkbook } from '../../activities/access.ts';
import { type DescribedLink, describeLinks, pageLinks } from '../../activities/fileLinks/describeLinks.ts';
import { type Fed, feedLink, requireSpreadsheet } from '../../activities/fileLinks/feedLink.ts';
import { fetchLinkedFile } from '../../activities/fileLinks/fetchLinkedFile.ts';
import { diffVersions, readVersionCells } from '../../activities/fileLinks/readVersions.ts';
import { findVersion, requireLink, requireLinkVersion } from '../../activities/fileLinks/requireLink.ts';
import { requireDriveFile, setFollowing } from '../../activities/fileLinks/setFollowing.ts';
import { compareWithSource, type OnExisting, type Tracking, trackFile } from '../../activities/fileLinks/trackFile.ts';
import { refuseGoverned } from '../../activities/governance/refuseGoverned.ts';
import { cleanFilename, receiveFile } from '../../activities/sources/receiveFile.ts';
import { retryOnMove } from '../../activities/tables/editTable.ts';
import { DomainError } from '../../core/errors.ts';
import type { components } from '../../schema/contract.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { Call, Handlers, Reply } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentLink, presentLinkResult } from '../presenters/fileLinks.ts';
import { answerJob } from './answerJobs.ts';

type FileLinkOperations =
  | 'listFileLinks'
  | 'trackCloudFile'
  | 'trackLocalFile'
  | 'updateFileLink'
  | 'syncFileLink'
  | 'pushFileLinkVersion'
  | 'getFileLinkCells'
  | 'diffFileLinkVersions'
  | 'downloadFileLinkVersion'
  | 'revertFileLinkVersion';

/** Those that bring a new state of a file. */
type StateOperations = 'trackCloudFile' | 'trackLocalFile' | 'syncFileLink' | 'pushFileLinkVersion' | 'revertFileLinkVersion';

type Answer = components['schemas']['FileLinkResult'];

/** What the cells of a page, or the differences of two files, take while they are sent. */
const answerBytes = 16 * 1024 * 1024;

export function makeFileLinkHandlers({ services }: ApiParts): Handlers<FileLinkOperations> {
  return {
    async listFileLinks({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageLinks(services, workbook.id, query);
      return { status: 200, body: { file_links: page.items.map(presentLink), next_cursor: page.nextCursor } };
    },

    async trackLocalFile(call) {
      const { principal, body } = call;
      const workbook = await requireWorkbook(services, principal, call.params.workbook_id, 'editor');
      const name = body.as_name == null ? cleanFilename(call.file.filename, '/file') : cleanFilename(body.as_name, '/as_name');
      const file = requireSpreadsheet(await receiveFile(services, principal.userId, workbook, call.file));
      const tracking: Tracking = {
        workbook,
        begin: { name, kind: 'local', provider: null, fileId: null, origin: body.origin ?? '', every: null },
        file,
        modifiedBy: null,
        modified: null,
        onExisting: (body.on_existing ?? 'auto') as OnExisting,
      };
      const compared = await compareWithSource(services, principal.userId, tracking);
      return answerState(
        call,
        (tx) => trackFile(tx, tracking, compared),
        (body) => ({ status: 201, body }),
      );
    },

    async trackCloudFile(call) {
      const { principal, body } = call;
      const workbook = await requireWorkbook(services, principal, call.params.workbook_id, 'editor');
      const name = cleanFilename(body.as_name ?? body.filename, body.as_name == null ? '/filename' : '/as_name');
      const { provider, file_id: fileId } = body;
      const filename = cleanFilename(body.filename, '/filename');
      const state = await fetchLinkedFile(services, principal, workbook, { provider, fileId, filename, signal: call.abandoned });
      const begin = { name, kind: 'cloud' as const, provider, fileId, origin: null, every: body.every ?? null };
      const tracking: Tracking = { workbook, begin, ...state, onExisting: 'feed' };
      const compared = await compareWithSource(services, principal.userId, tracking);
      return answerState(
        call,
        (tx) => trackFile(tx, tracking, compared),
        (body) => ({ status: 201, body }),
      );
    },

    async updateFileLink(call) {
      const { link } = await requireLink(services, call.principal, call.params, 'editor');
      return call.write(
        async (tx) => {
          await setFollowing(tx, link, call.body.every);
          return (await describeLinks(tx.orm, [link.id])).get(link.id) as DescribedLink;
        },
        (described) => ({ status: 200, body: presentLink(described) }),
      );
    },

    async syncFileLink(call) {
      const { principal } = call;
      const { workbook, link } = await requireLink(services, principal, call.params, 'editor');
      const place = await requireDriveFile(services.db.orm, link);
      const { file, ...info } = await fetchLinkedFile(services, principal, workbook, { ...place, signal: call.abandoned });
      return answerState(
        call,
        (tx) => feedLink(tx, link, file, { ...info, kind: 'sync' }),
        (body) => ({ status: 200, body }),
      );
    },

    async pushFileLinkVersion(call) {
      const { principal, body } = call;
      const { workbook, link } = await requireLink(services, principal, call.params, 'editor');
      if (link.kind === 'cloud')
        throw new DomainError('in-use', 'The file lives on a drive, and its state is taken from there.', 'Use POST …/sync.');
      const file = requireSpreadsheet(await receiveFile(services, principal.userId, workbook, call.file));
      const info = { kind: 'sync' as const, modifiedBy: body.modified_by ?? null, modified: body.modified_time ?? null };
      return answerState(
        call,
        (tx) => feedLink(tx, link, file, info),
        (body) => ({ status: 200, body }),
      );
    },

    async getFileLinkCells({ principal, params, query, takeRoom }) {
      const { workbook, version } = await requireLinkVersion(services, principal, params, 'viewer');
      await refuseGoverned(services, workbook.id);
      await takeRoom(answerBytes);
      const { nextCursor, ...page } = await readVersionCells(services, principal.userId, version, query);
      return { status: 200, body: { ...page, next_cursor: nextCursor } };
    },

    async diffFileLinkVersions({ principal, params, query, takeRoom }) {
      const { workbook, link, version: after } = await requireLinkVersion(services, principal, params, 'viewer');
      await refuseGoverned(services, workbook.id);
      const against = query.against ?? (after.n > 1 ? after.n - 1 : null);
      const before = against === null ? null : await findVersion(services, link, against);
      await takeRoom(2 * answerBytes);
      const sheets = await diffVersions(services, principal.userId, link, { before, after }, query.limit);
      return { status: 200, body: { n: after.n, against, sheets } };
    },

    async downloadFileLinkVersion({ principal, params }) {
      const { workbook, version } = await requireLinkVersion(services, principal, params, 'viewer');
      await refuseGoverned(services, workbook.id);
      return {
        status: 200,
        headers: {
          'Content-Length': String(version.size),
          'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(version.filename).replaceAll("'", '%27')}`,
        },
        raw: { type: version.contentType, data: await services.blobs.read(version.blobKey), isOriginal: true },
      };
    },

    async revertFileLinkVersion(call) {
      const { principal } = call;
      const { link, version } = await requireLinkVersion(services, principal, call.params, 'editor');
      const { filename, format, contentType, size, sha256, blobKey, modifiedBy, modifiedAt } = version;
      const file = { filename, format, contentType, size, sha256, blobKey };
      const info = { kind: 'revert' as const, modifiedBy, modified: modifiedAt?.toISOString() ?? null };
      return answerState(
        call,
        (tx) => feedLink(tx, link, file, info),
        (body) => ({ status: 200, body }),
      );
    },
  };

  /** Hands a new state of a file over to its ingest, and answers with what became of it. */
  function answerState<Id extends StateOperations>(
    call: Call<Id>,
    feed: (tx: Tx) => Promise<Fed>,
    present: (body: Answer) => Reply<Id>,
  ): Promise<Reply<Id>> {
    const begin = async (tx: Tx) => {
      const fed = await feed(tx);
      if ('job' in fed) return fed;
      const described = (await describeLinks(tx.orm, [fed.done.linkId])).get(fed.done.linkId);
      if (!described) throw new Error(`file link ${fed.done.linkId} is gone`);
      return { reply: present(presentLinkResult(described, fed.done, [])) };
    };
    const answer = async (job: JobRecord) => present(await answerJob<Answer>(services, call.principal, job));
    return retryOnMove(() => call.handOver(call.actor(), begin, { answer }));
  }
}
