import { runAttack } from './attack.ts';
import { attacks } from './attacks.ts';
import { describeReport } from './describe.ts';
import { memoryAttacks } from './memory.ts';
import { openWorld } from './world.ts';

/**
 * `npm run abuse [name…]`: starts the service and attacks it in every known way, one after the other, while somebody else goes
 * on with their work. Fails where a process died, somebody else was refused, or the API took more memory than it may.
 */
const wanted = process.argv.slice(2);
const all = [...attacks, ...memoryAttacks];
const chosen = all.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
if (chosen.length === 0) throw new Error(`There is no such attack; there are ${all.map(({ name }) => `"${name}"`).join(', ')}.`);
let failed = 0;
for (const attack of chosen) {
  const world = await openWorld({ env: attack.env });
  try {
    const report = await runAttack(world, attack, 'full');
    console.log(describeReport(attack.name, report));
    if (report.faults.length > 0) failed += 1;
  } finally {
    await world.close();
  }
}
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
