import type { ScheduleDescription } from '@temporalio/client';
import { vi } from 'vitest';
import type { Services } from '../../store/services.ts';
import { scheduleId } from '../../store/temporal/schedules.ts';

/** A worker makes the schedules while it works already. */
export async function waitForSchedule(services: Services, name: Parameters<typeof scheduleId>[0]): Promise<ScheduleDescription> {
  const { client } = await services.temporal();
  const schedule = client.schedule.getHandle(scheduleId(name, services.config.temporal.taskQueue));
  return vi.waitFor(() => schedule.describe(), { timeout: 30_000, interval: 100 });
}
