import { Client, Connection, type ScheduleDescription, ScheduleNotFoundError } from '@temporalio/client';
import { vi } from 'vitest';
import type { TemporalConfig } from '../../store/config.ts';
import type { Services } from '../../store/services.ts';
import { scheduleId, scheduleNames } from '../../store/temporal/schedules.ts';

/** A worker makes the schedules while it works already. */
export async function waitForSchedule(services: Services, name: Parameters<typeof scheduleId>[0]): Promise<ScheduleDescription> {
  const { client } = await services.temporal();
  const schedule = client.schedule.getHandle(scheduleId(name, services.config.temporal.taskQueue));
  return vi.waitFor(() => schedule.describe(), { timeout: 120_000, interval: 100 });
}

/**
 * Without a worker they would go on starting workflows that nobody takes: at every full hour all schedules of all files before,
 * while others wait for the same server.
 */
export async function removeSchedules({ address, namespace, taskQueue }: TemporalConfig): Promise<void> {
  const connection = await Connection.connect({ address: address ?? undefined });
  const { schedule } = new Client({ connection, namespace });
  const remove = (name: (typeof scheduleNames)[number]) =>
    schedule
      .getHandle(scheduleId(name, taskQueue))
      .delete()
      .catch((error: unknown) => {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      });
  await Promise.all(scheduleNames.map(remove)).finally(() => connection.close());
}
