import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { landRaw } from './landRaw.ts';
import { structureLanded } from './structure.ts';

/** The steps of an ingest that work on its file, one after the other. Each finds what an earlier run of it has done. */
export async function prepareTables(
  services: Services,
  jobId: string,
  activity: ActivityContext,
): Promise<'landed' | 'fell back' | 'promote'> {
  const landed = await landRaw(services, jobId, activity);
  if (!landed) return 'landed';
  return (await structureLanded(services, landed, activity)) === 'over' ? 'fell back' : 'promote';
}
