import { ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { ServiceConfig } from '../config.ts';
import type { Temporal } from './client.ts';
import { searchAttributes } from './searchAttributes.ts';

type Duration = `${number} ${'seconds' | 'minutes' | 'minute' | 'hours' | 'hour' | 'day'}`;

interface ScheduleSettings {
  workflow: string;
  every: Duration;
  /** Its runs sleep and work until the next one, so one is started at once, and the next when it ends. */
  rounds?: { everySeconds: number; forSeconds: number };
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
    every: '1 hour',
    catchup: '1 hour',
    purpose:
      'removes idempotency records, sessions and other things that have outlived their time, and gives back credits that ended jobs still hold',
  },
  'sweep-jobs': {
    workflow: 'sweepJobs',
    every: '3 hours',
    rounds: { everySeconds: 30, forSeconds: 3 * 3600 },
    catchup: '1 hour',
    purpose:
      'starts jobs that were registered by a process that ended before it could start them, and ends those whose workflow was stopped',
  },
  'sweep-tables': {
    workflow: 'sweepTables',
    every: '1 hour',
    catchup: '1 hour',
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
  'settle-periods': {
    workflow: 'settlePeriods',
    every: '1 day',
    offset: '15 minutes',
    catchup: '1 day',
    purpose: 'closes billing periods that are over: charges overage and renewals, ends cancelled subscriptions',
  },
  'recharge-credits': {
    workflow: 'rechargeCredits',
    every: '10 minutes',
    catchup: '10 minutes',
    purpose: 'buys credits for accounts that have too few and want that, and charges what is left unpaid',
  },
  'follow-files': {
    workflow: 'followFiles',
    every: '5 minutes',
    catchup: '1 hour',
    purpose: 'looks for changes of drive files that are followed',
  },
  'sample-usage': {
    workflow: 'sampleUsage',
    every: '1 hour',
    catchup: '1 hour',
    purpose: 'writes down what every account stores; the last sample of a day stays',
  },
  'roll-up-usage': {
    workflow: 'rollUpUsage',
    every: '1 day',
    offset: '30 minutes',
    catchup: '1 day',
    purpose: 'puts the counts of days that are over into one row each, missed days included',
  },
  'anchor-audit': {
    workflow: 'anchorAudit',
    every: '1 hour',
    catchup: '1 hour',
    purpose: 'anchors the audit chains that have grown, and tells of those that are broken',
  },
} as const satisfies Record<string, ScheduleSettings>;

type ScheduleName = keyof typeof schedules;

export const scheduleNames = Object.keys(schedules) as ScheduleName[];

/** Installations that share a namespace have task queues of their own, and so schedules of their own. */
export function scheduleId(name: ScheduleName, taskQueue: string): string {
  return `${name}.${taskQueue}`;
}

function describeSchedule(name: ScheduleName, taskQueue: string): ScheduleOptions {
  const { workflow, every, offset, rounds, catchup, purpose }: ScheduleSettings = schedules[name];
  const id = scheduleId(name, taskQueue);
  return {
    scheduleId: id,
    spec: { intervals: [{ every, ...(offset ? { offset } : {}) }] },
    policies: { overlap: rounds ? ScheduleOverlapPolicy.BUFFER_ONE : ScheduleOverlapPolicy.SKIP, catchupWindow: catchup },
    action: {
      type: 'startWorkflow',
      workflowType: workflow,
      workflowId: id,
      taskQueue,
      args: rounds ? [rounds] : [],
      typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
    },
    memo: { purpose },
  };
}

/** Makes the schedules that are missing and brings the others up to date; any number of workers may do it at once. */
export async function ensureSchedules(temporal: Temporal, config: ServiceConfig): Promise<void> {
  const { taskQueue } = config.temporal;
  await Promise.all(
    scheduleNames.map(async (name) => {
      await ensureSchedule(temporal, describeSchedule(name, taskQueue));
      if ('rounds' in schedules[name]) await startIfIdle(temporal, scheduleId(name, taskQueue));
    }),
  );
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

/** Without this, the first run would come hours after the first worker. */
async function startIfIdle({ client }: Temporal, id: string): Promise<void> {
  const schedule = client.schedule.getHandle(id);
  const { state, info } = await schedule.describe();
  if (!state.paused && info.runningActions.length === 0) await schedule.trigger(ScheduleOverlapPolicy.SKIP);
}
