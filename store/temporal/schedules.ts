import { ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { ServiceConfig } from '../config.ts';
import type { Temporal } from './client.ts';
import { searchAttributes } from './searchAttributes.ts';

export type ScheduleName = 'expire-things' | 'sweep-jobs' | 'sweep-tables' | 'collect-garbage' | 'anchor-audit' | 'grant-credits';

/** Installations that share a namespace have task queues of their own, and so schedules of their own. */
export function scheduleId(name: ScheduleName, taskQueue: string): string {
  return `${name}.${taskQueue}`;
}

/** Workflows that run by the clock. */
function listSchedules(taskQueue: string): ScheduleOptions[] {
  return [
    {
      scheduleId: scheduleId('expire-things', taskQueue),
      spec: { intervals: [{ every: '5 minutes' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10 minutes' },
      action: {
        type: 'startWorkflow',
        workflowType: 'expireThings',
        workflowId: scheduleId('expire-things', taskQueue),
        taskQueue,
        typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
      },
      memo: { purpose: 'removes idempotency records, sessions and other things that have outlived their time' },
    },
    {
      scheduleId: scheduleId('sweep-jobs', taskQueue),
      spec: { intervals: [{ every: '30 seconds' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: 'sweepJobs',
        workflowId: scheduleId('sweep-jobs', taskQueue),
        taskQueue,
        typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
      },
      memo: { purpose: 'starts jobs that were registered by a process that ended before it could start them' },
    },
    {
      scheduleId: scheduleId('sweep-tables', taskQueue),
      spec: { intervals: [{ every: '3 minutes' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '5 minutes' },
      action: {
        type: 'startWorkflow',
        workflowType: 'sweepTables',
        workflowId: scheduleId('sweep-tables', taskQueue),
        taskQueue,
        typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
      },
      memo: { purpose: 'starts the compaction of tables with long logs' },
    },
    {
      scheduleId: scheduleId('collect-garbage', taskQueue),
      spec: { intervals: [{ every: '6 hours' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 hour' },
      action: {
        type: 'startWorkflow',
        workflowType: 'collectGarbage',
        workflowId: scheduleId('collect-garbage', taskQueue),
        taskQueue,
        typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
      },
      memo: { purpose: 'removes versions that nothing needs any more, and files that nothing refers to' },
    },
    {
      scheduleId: scheduleId('grant-credits', taskQueue),
      // Soon after midnight in UTC.
      spec: { intervals: [{ every: '1 day', offset: '5 minutes' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 day' },
      action: {
        type: 'startWorkflow',
        workflowType: 'grantCredits',
        workflowId: scheduleId('grant-credits', taskQueue),
        taskQueue,
        typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
      },
      memo: { purpose: 'gives accounts the credits of a new month and lets those of the month before expire' },
    },
    {
      scheduleId: scheduleId('anchor-audit', taskQueue),
      spec: { intervals: [{ every: '1 hour' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 hour' },
      action: {
        type: 'startWorkflow',
        workflowType: 'anchorAudit',
        workflowId: scheduleId('anchor-audit', taskQueue),
        taskQueue,
        typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
      },
      memo: { purpose: 'anchors the audit chains that have grown, and tells of those that are broken' },
    },
  ];
}

/** Makes the schedules that are missing and brings the others up to date; any number of workers may do it at once. */
export async function ensureSchedules({ client }: Temporal, config: ServiceConfig): Promise<void> {
  for (const schedule of listSchedules(config.temporal.taskQueue)) {
    try {
      await client.schedule.create(schedule);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await client.schedule
        .getHandle(schedule.scheduleId)
        .update((previous) => ({ ...schedule, state: previous.state, action: schedule.action as never }));
    }
  }
}
