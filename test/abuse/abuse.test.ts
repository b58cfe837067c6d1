import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { runAttack } from './attack.ts';
import { attacks } from './attacks.ts';
import { describeReport } from './describe.ts';
import { openWorld, type World } from './world.ts';

/** The short form of `npm run abuse`: the same attacks with fewer of everything. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

describe('a service under attack', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ temporalCli: inject('temporalCli') });
  });
  afterAll(() => world.close());

  it.each(attacks.map((attack) => [attack.name, attack] as const))('holds for everybody else: %s', async (name, attack) => {
    const report = await runAttack(world, attack, 'short');
    console.log(describeReport(name, report));
    expect(report.faults).toEqual([]);
  });
});
