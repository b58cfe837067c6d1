import { measureReturn } from '../test/abuse/restarts.ts';
import { openWorld, type World } from '../test/abuse/world.ts';
import { median, report } from './measure.ts';

const rounds = 3;
const groups = [['api'], ['worker'], ['temporal'], ['postgres'], ['api', 'worker', 'temporal', 'postgres']];

/** How soon the service is back after a kill -9 of its parts. */
export async function benchRestarts(): Promise<void> {
  for (const parts of groups) {
    // A service whose parts die too often within a minute gives up, so each group has one of its own.
    const world = await openWorld();
    try {
      await measureGroup(world, parts);
    } finally {
      await world.close();
    }
  }
}

async function measureGroup(world: World, parts: string[]): Promise<void> {
  const { session } = await world.addPerson('somebody');
  const times = [];
  for (let round = 0; round < rounds; round += 1) times.push(await measureReturn(world, session, parts));
  const answers = median(times.map(({ answersMs }) => answersMs)) / 1000;
  const ready = median(times.map(({ readyMs }) => readyMs)) / 1000;
  const [what, limit] = parts.length > 1 ? ['everything', 6] : [parts[0], 3];
  report(`${what} killed: people are answered again after`, `${answers.toFixed(1)} s`, `${limit} s at most`, answers <= limit);
  report(`${what} killed: ready again after`, `${ready.toFixed(1)} s`, '6 s at most', ready <= 6);
}
