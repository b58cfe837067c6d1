import { type Bystander, watch } from '../abuse/bystander.ts';
import type { World } from '../abuse/world.ts';
import { letWork } from './people.ts';

const seconds = 30;

/** One account asks as much as it can while the others work: somebody else's query takes at most twice as long. */
export async function flood(world: World, people: Bystander[]): Promise<string[]> {
  const [somebody, ...others] = people as [Bystander, ...Bystander[]];
  const measure = async () => {
    const watched = watch(somebody, 'query', 200);
    await letWork(others, 3_000, AbortSignal.timeout(seconds * 1000), () => {});
    return watched.stop();
  };
  const before = await measure();
  const flooder = await makeFlooder(world);
  const signal = AbortSignal.timeout((seconds + 2) * 1000);
  const floods = Array.from({ length: 24 }, async () => {
    while (!signal.aborted) await flooder().catch(() => {});
  });
  const during = await measure();
  await Promise.all(floods);
  const ratio = during.p50 / before.p50;
  console.log(
    `somebody's query beside an account that floods: ${during.p50.toFixed(0)} ms at the median, ${before.p50.toFixed(0)} without it: ${ratio.toFixed(2)}×`,
  );
  return [
    ...(ratio <= 2 ? [] : [`an account that floods makes somebody's query take ${ratio.toFixed(2)} times as long`]),
    ...during.failures.filter((failure) => !failure.endsWith('429')),
  ];
}

async function makeFlooder(world: World): Promise<() => Promise<unknown>> {
  const person = await world.addPerson('flooder');
  const sql = 'SELECT count(*) AS n FROM range(3000000) a(i) WHERE i % 7 = 3';
  return () => person.send('POST', `/api/v1/workbooks/${person.workbookId}/query`, { sql });
}
