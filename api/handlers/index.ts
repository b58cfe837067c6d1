import type { operations } from '../../schema/contract.ts';
import type { Handler, Handlers } from '../http/call.ts';
import type { OperationId } from '../http/contract.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { makeAccountHandlers } from './accounts.ts';
import { makeAnnotationHandlers } from './annotations.ts';
import { makeAuditHandlers } from './audit.ts';
import { makeAuthHandlers } from './auth.ts';
import { makeBillingHandlers } from './billing.ts';
import { makeBillingCallbackHandlers } from './billingCallback.ts';
import { makeBillingPageHandlers } from './billingPages.ts';
import { makeBindingHandlers } from './bindings.ts';
import { makeChartHandlers } from './charts.ts';
import { makeColumnHandlers } from './columns.ts';
import { makeCredentialHandlers } from './credentials.ts';
import { makeDiscoveryHandlers } from './discovery.ts';
import { makeDriveHandlers } from './drives.ts';
import { makeEventHandlers } from './events.ts';
import { makeExportHandlers } from './export.ts';
import { makeFileLinkHandlers } from './fileLinks.ts';
import { makeGovernanceHandlers } from './governance.ts';
import { makeHistoryHandlers } from './history.ts';
import { makeJobHandlers } from './jobs.ts';
import { makeMcpHandlers } from './mcp.ts';
import { makeMeHandlers } from './me.ts';
import { makeMergeHandlers } from './merges.ts';
import { makeOpHandlers } from './ops.ts';
import { makePageHandlers } from './pages.ts';
import { makeQueryHandlers } from './query.ts';
import { makeRangeHandlers } from './range.ts';
import { makeRemoteSourceHandlers } from './remoteSources.ts';
import { makeReviewHandlers } from './review.ts';
import { makeRowHandlers } from './rows.ts';
import { makeSheetHandlers } from './sheets.ts';
import { makeSnapshotHandlers } from './snapshots.ts';
import { makeSourceHandlers } from './sources.ts';
import { makeStagedHandlers } from './staged.ts';
import { makeSystemHandlers } from './system.ts';
import { makeTableDataHandlers } from './tableData.ts';
import { makeTableHandlers } from './tables.ts';
import { makeTransformHandlers } from './transforms.ts';
import { makeUploadHandlers } from './uploads.ts';
import { makeWebhookHandlers } from './webhooks.ts';
import { makeWorkbookHandlers } from './workbooks.ts';
import { makeWorkspaceHandlers } from './workspaces.ts';

/** A handler for every operation of the contract. A missing or surplus one is a type error here, and an error at start-up. */
export function makeHandlers(parts: ApiParts, metrics: Metrics): Handlers {
  const tables = makeTableHandlers(parts);
  const columns = makeColumnHandlers(parts);
  const all: Handlers = {
    ...makeSystemHandlers(parts, metrics),
    ...makePageHandlers(parts),
    ...makeAuthHandlers(parts),
    ...makeMeHandlers(parts),
    ...makeCredentialHandlers(parts),
    ...makeAccountHandlers(parts),
    ...makeBillingHandlers(parts),
    ...makeBillingCallbackHandlers(parts),
    ...makeBillingPageHandlers(parts),
    ...makeWorkspaceHandlers(parts),
    ...makeWorkbookHandlers(parts),
    ...makeJobHandlers(parts),
    ...makeAuditHandlers(parts),
    ...makeDiscoveryHandlers(parts),
    ...tables,
    ...makeTransformHandlers(parts),
    ...makeReviewHandlers(parts),
    ...makeRowHandlers(parts),
    ...makeTableDataHandlers(parts),
    ...makeQueryHandlers(parts),
    ...columns,
    // Columns have two addresses: under the table, and the older one under the artifact.
    addTableColumn: useFor<'addColumn', 'addTableColumn'>(columns.addColumn),
    alterTableColumn: useFor<'alterColumn', 'alterTableColumn'>(columns.alterColumn),
    dropTableColumn: useFor<'dropColumn', 'dropTableColumn'>(columns.dropColumn),
    describeTableColumn: useFor<'describeColumn', 'describeTableColumn'>(tables.describeColumn),
    ...makeRangeHandlers(parts),
    ...makeAnnotationHandlers(parts),
    ...makeOpHandlers(parts),
    ...makeHistoryHandlers(parts),
    ...makeSnapshotHandlers(parts),
    ...makeExportHandlers(parts),
    ...makeMergeHandlers(parts),
    ...makeSheetHandlers(parts),
    ...makeChartHandlers(parts),
    ...makeGovernanceHandlers(parts),
    ...makeBindingHandlers(parts),
    ...makeSourceHandlers(parts),
    ...makeRemoteSourceHandlers(parts),
    ...makeFileLinkHandlers(parts),
    ...makeDriveHandlers(parts),
    ...makeStagedHandlers(parts),
    ...makeUploadHandlers(parts),
    ...makeEventHandlers(parts),
    ...makeWebhookHandlers(parts),
    ...makeMcpHandlers(parts, () => all),
  };
  return all;
}

/** The handler of one operation for another, which in the contract takes and answers the same. */
function useFor<Id extends OperationId, Other extends OperationId>(
  handler: operations[Id] extends operations[Other] ? Handler<Id> : never,
): Handler<Other> {
  return handler as unknown as Handler<Other>;
}
