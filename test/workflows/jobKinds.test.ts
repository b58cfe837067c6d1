import { describe, expect, it } from 'vitest';
import { jobKinds } from '../../activities/jobs/jobKinds.ts';
import * as workflows from '../../workflows/index.ts';

describe('every kind of job', () => {
  const started = Object.entries(jobKinds).map(([kind, { workflow }]) => [kind, workflow] as const);

  it.each(started)('%s has its workflow, %s', (_, workflow) => expect(workflows).toHaveProperty(workflow, expect.any(Function)));
});
