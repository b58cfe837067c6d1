import { runAttack } from '../test/abuse/attack.ts';
import { attacks } from '../test/abuse/attacks.ts';
import { describeReport } from '../test/abuse/describe.ts';
import { measureReturn } from '../test/abuse/restarts.ts';
import { openWorld } from '../test/abuse/world.ts';
import { median, report } from './measure.ts';

/** Every known attack with somebody else's times before and during it, and how soon the service is back after a kill. */
export async function benchLoad(): Promise<void> {
  for (const attack of attacks) {
    const world = await openWorld({ env: attack.env });
    console.log(describeReport(attack.name, await runAttack(world, attack, 'full').finally(world.close)));
  }
  await benchReturn();
}

const rounds = 3;

async function benchReturn(): Promise<void> {
  const world = await openWorld();
  try {
    const { session } = await world.addPerson('somebody');
    for (const parts of [['api'], ['worker'], ['temporal'], ['postgres'], ['api', 'worker', 'temporal', 'postgres']]) {
      const times = [];
      for (let round = 0; round < rounds; round += 1) times.push(await measureReturn(world, session, parts));
      const answers = median(times.map(({ answersMs }) => answersMs)) / 1000;
      const ready = median(times.map(({ readyMs }) => readyMs)) / 1000;
      const what = parts.length > 1 ? 'everything' : parts[0];
      report(`${what} killed: people are answered again after`, `${answers.toFixed(1)} s`, '3 s at most', answers <= 3);
      report(`${what} killed: ready again after`, `${ready.toFixed(1)} s`, '6 s at most', ready <= 6);
    }
  } finally {
    await world.close();
  }
}
