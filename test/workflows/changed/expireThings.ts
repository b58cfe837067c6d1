import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../../../activities/index.ts';

/** The workflow as a careless change would leave it: running ones would notice. */
const { expireThings: sweep } = proxyActivities<Activities>({ startToCloseTimeout: '10 minutes' });

export async function expireThings(): Promise<Record<string, number>> {
  await sleep('1 second');
  return sweep();
}
