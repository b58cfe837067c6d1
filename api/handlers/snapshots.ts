import { requireWorkbook } from '../../activities/access.ts';
import { checkLabel, commitSnapshot, commitVersion } from '../../activities/snapshots/commitSnapshot.ts';
import { planRestore } from '../../activities/snapshots/planRestore.ts';
import { requireCommitted, requireVersion, restoreSnapshot } from '../../activities/snapshots/restoreSnapshot.ts';
import { retryOnMove } from '../../activities/tables/editTable.ts';
import { cutPage, decodeIdCursor } from '../../core/paging.ts';
import { findEditingSnapshot, listLabels, listNamedVersions, listSnapshots, listSnapshotTables } from '../../store/pg/snapshots.ts';
import { listTables } from '../../store/pg/tables.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentEditing, presentRestored, presentSnapshot, presentVersion } from '../presenters/snapshots.ts';

type SnapshotOperations =
  | 'listSnapshots'
  | 'commitSnapshot'
  | 'restoreSnapshot'
  | 'listVersions'
  | 'createVersion'
  | 'getVersion'
  | 'revertVersion';

export function makeSnapshotHandlers({ services }: ApiParts): Handlers<SnapshotOperations> {
  const { orm } = services.db;

  return {
    async listSnapshots({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const limit = query.limit ?? 50;
      const before = decodeIdCursor(query.cursor, 'snp');
      // The editing one is the newest of all: it leads the first page and takes one place of it.
      const editing = before === null ? await findEditingSnapshot(orm, workbook) : null;
      const rows = await listSnapshots(orm, { workbookId: workbook.id, before, limit: limit + 1 });
      const listed = editing === null ? rows : [{ id: editing.id, nextId: null }, ...rows].slice(0, limit + 1);
      const page = cutPage(listed, limit, (snapshot) => [snapshot.id]);
      const ids = page.items.map((snapshot) => snapshot.id);
      const [held, labels, current] = await Promise.all([
        listSnapshotTables(orm, ids),
        listLabels(orm, ids),
        editing ? listTables(orm, { workbookId: workbook.id, state: 'active' }) : [],
      ]);
      const byName = current.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return {
        status: 200,
        body: {
          snapshots: page.items.map((item) =>
            'summary' in item
              ? presentSnapshot(item, held.get(item.id) ?? [], labels.get(item.id) ?? [])
              : presentEditing(editing as NonNullable<typeof editing>, byName),
          ),
          next_cursor: page.nextCursor,
        },
      };
    },

    async commitSnapshot(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const wanted = { summary: call.body.summary, eventType: call.body.event_type ?? 'transform' };
      return retryOnMove(() =>
        call.write(
          (tx) => commitSnapshot(tx, workbook, wanted),
          ({ snapshot, tables }) => ({ status: 201, body: presentSnapshot(snapshot, tables, []) }),
        ),
      );
    },

    async restoreSnapshot(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const snapshot = await requireCommitted(services, workbook, call.params.snapshot_id);
      return retryOnMove(async () => {
        const plan = await planRestore(services.db, snapshot);
        return call.write(
          (tx) => restoreSnapshot(tx, workbook, plan, null),
          (restored) => ({ status: 200, body: presentRestored(restored) }),
        );
      });
    },

    async listVersions({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const limit = query.limit ?? 50;
      const rows = await listNamedVersions(orm, { workbookId: workbook.id, before: decodeIdCursor(query.cursor, 'snp'), limit: limit + 1 });
      const page = cutPage(rows, limit, (version) => [version.snapshotId]);
      const held = await listSnapshotTables(
        orm,
        page.items.map((version) => version.snapshotId),
      );
      return {
        status: 200,
        body: {
          versions: page.items.map((version) => presentVersion(version, held.get(version.snapshotId) ?? [])),
          next_cursor: page.nextCursor,
        },
      };
    },

    async createVersion(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const wanted = { label: checkLabel(call.body.label), summary: call.body.summary ?? null };
      return retryOnMove(() =>
        call.write(
          (tx) => commitVersion(tx, workbook, wanted),
          ({ version, tables }) => ({
            status: 201,
            headers: { Location: `/api/v1/workbooks/${workbook.id}/versions/${encodeURIComponent(version.label)}` },
            body: presentVersion(version, tables),
          }),
        ),
      );
    },

    async getVersion({ principal, params }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const { version } = await requireVersion(services, workbook, params.label);
      const held = await listSnapshotTables(orm, [version.snapshotId]);
      return { status: 200, body: presentVersion(version, held.get(version.snapshotId) ?? []) };
    },

    async revertVersion(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { version, snapshot } = await requireVersion(services, workbook, call.params.label);
      return retryOnMove(async () => {
        const plan = await planRestore(services.db, snapshot);
        return call.write(
          (tx) => restoreSnapshot(tx, workbook, plan, version.label),
          (restored) => ({ status: 200, body: presentRestored(restored) }),
        );
      });
    },
  };
}
