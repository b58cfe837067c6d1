import type { JobProblem } from '../../schema/index.ts';

/** How a job ends whose work was broken off: by somebody who asked for that, or with its workflow. */
export type Ending = 'cancelled' | 'stopped';

export const endings: Record<Ending, JobProblem> = {
  cancelled: { code: 'in-use', detail: 'cancelled', suggestedFix: 'Start it again if it is still wanted.' },
  stopped: { code: 'unavailable', detail: 'The work was stopped before it was done.', suggestedFix: 'Start it again.' },
};
