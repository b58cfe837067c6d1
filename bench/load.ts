import { runAttack } from '../test/abuse/attack.ts';
import { attacks } from '../test/abuse/attacks.ts';
import { describeReport } from '../test/abuse/describe.ts';
import { openWorld } from '../test/abuse/world.ts';

/** Every known attack with somebody else's times before and during it. */
export async function benchLoad(): Promise<void> {
  for (const attack of attacks) {
    const world = await openWorld({ env: attack.env });
    console.log(describeReport(attack.name, await runAttack(world, attack, 'full').finally(world.close)));
  }
}
