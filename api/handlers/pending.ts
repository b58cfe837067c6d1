import type { OperationId } from '../http/contract.ts';

/** Operations of the contract that are not built yet. They answer 501 `not-yet-available`. */
export const pendingOperations = [
  'deleteAccount',
  'getAccountUsage',
  'getBilling',
  'configureAutoTopup',
  'startCheckout',
  'enablePayg',
  'openBillingPortal',
  'reuseCard',
  'buyCredits',
  'receiveBillingCallback',
  'getCheckoutPage',
  'completeCheckout',
  'getPortalPage',
  'submitPortal',

  'importCloudFile',
  'ingestUrl',

  'listFileLinks',
  'trackCloudFile',
  'trackLocalFile',
  'syncFileLink',
  'pushFileLinkVersion',
  'getFileLinkCells',
  'diffFileLinkVersions',
  'downloadFileLinkVersion',
  'revertFileLinkVersion',
  'getDriveAuthorization',
  'listCloudFiles',
  'finishDriveAuthorization',
  'listEvents',
  'listWebhooks',
  'createWebhook',
  'deleteWebhook',
  'listDeliveries',
  'redeliverEvent',
  'testWebhook',
  'rotateWebhookSecret',
] as const satisfies readonly OperationId[];

export type PendingOperation = (typeof pendingOperations)[number];
