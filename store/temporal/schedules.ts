import { ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { ServiceConfig } from '../config.ts';
import type { Temporal } from './client.ts';
import { searchAttributes } from './searchAttributes.ts';

type Duration = `${number} ${'seconds' | 'minutes' | 'minute' | 'hours' | 'hour' | 'day'}`;

interface ScheduleSettings {
  workflow: string;
  every: Duration;
  /** Offset from midnight UTC. */
  offset?: Duration;
  /** How late a missed run is still started. */
  catchup: Duration;
  purpose: string;
}

/** Workflows that run on a schedule. */
const schedules = {
  'expire-things': {
    workflow: 'expireThings',
    every: '5 minutes',
    catchup: '10 minutes',
    purpose:
      'removes idempotency records, sessions and other things that have outlived their time, and gives back credits that ended jobs still hold',
  },
  'sweep-jobs': {
    workflow: 'sweepJobs',
    every: '30 seconds',
    catchup: '1 minute',
    purpose:
      'starts jobs that were registered by a process that ended before it could start them, and ends those whose workflow was stopped',
  },
  'sweep-tables': {
    workflow: 'sweepTables',
    every: '3 minutes',
    catchup: '5 minutes',
    purpose: 'starts the compaction of tables with long logs',
  },
  'collect-garbage': {
    workflow: 'collectGarbage',
    every: '6 hours',
    catchup: '1 hour',
    purpose: 'removes versions that nothing needs any more, and files that nothing refers to',
  },
  'grant-credits': {
    workflow: 'grantCredits',
    every: '1 day',
    offset: '5 minutes',
    catchup: '1 day',
    purpose: 'gives accounts the credits of a new month and lets those of the month before expire',
  },
  'anchor-audit': {
    workflow: 'anchorAudit',
    every: '1 hour',
    catchup: '1 hour',
    purpose: 'anchors the audit chains that have grown, and tells of those that are broken',
  },
} as const satisfies Record<string, ScheduleSettings>;

type ScheduleName = keyof typeof schedules;

/** Installations that share a namespace have task queues of their own, and so schedules of their own. */
export function scheduleId(name: ScheduleName, taskQueue: string): string {
  return `${name}.${taskQueue}`;
}

function describeSchedule(name: ScheduleName, taskQueue: string): ScheduleOptions {
  const { workflow, every, offset, catchup, purpose }: ScheduleSettings = schedules[name];
  const id = scheduleId(name, taskQueue);
  return {
    scheduleId: id,
    spec: { intervals: [{ every, ...(offset ? { offset } : {}) }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchup },
    action: {
      type: 'startWorkflow',
      workflowType: workflow,
      workflowId: id,
      taskQueue,
      typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
    },
    memo: { purpose },
  };
}

/** Makes the schedules that are missing and brings the others up to date; any number of workers may do it at once. */
export async function ensureSchedules(temporal: Temporal, config: ServiceConfig): Promise<void> {
  const all = Object.keys(schedules) as ScheduleName[];
  await Promise.all(all.map((name) => ensureSchedule(temporal, describeSchedule(name, config.temporal.taskQueue))));
}

async function ensureSchedule({ client }: Temporal, schedule: ScheduleOptions): Promise<void> {
  try {
    await client.schedule.create(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule
      .getHandle(schedule.scheduleId)
      .update((previous) => ({ ...schedule, state: previous.state, action: schedule.action as never }));
  }
}
