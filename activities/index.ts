import { Context } from '@temporalio/activity';
import type { Services } from '../store/services.ts';
import { expireThings } from './maintenance/expireThings.ts';

/** The activities that workflows call, over one process's services. */
export function makeActivities(services: Services) {
  return {
    expireThings: () => expireThings(services, () => Context.current().heartbeat()),
  };
}

export type Activities = ReturnType<typeof makeActivities>;
