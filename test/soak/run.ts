import { habits, summarize } from '../abuse/bystander.ts';
import { measureMemory } from '../abuse/memoryWatch.ts';
import { openWorld } from '../abuse/world.ts';
import { flood } from './flood.ts';
import { type Asked, gatherPeople, letWork } from './people.ts';
import { measureProcessor, type ProcessorTime } from './processor.ts';
import { startYardstick, type Yardstick } from './yardstick.ts';

/**
 * `npm run soak [--minutes=20] [--people=50] [--pause=3000]`: fifty accounts edit, query, upload and export at a steady rate. Fails
 * where anything but 429 was refused, the memory of a process grew after the first five minutes, requests became slower (by more
 * than a bare server beside it did), or one account that floods slows down another.
 */
const read = (name: string, otherwise: number) =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1] ?? otherwise);
const minutes = read('minutes', 20);
const many = read('people', 50);
const pauseMs = read('pause', 3_000);
const minuteMs = 60_000;
const faults: string[] = [];

const world = await openWorld();
try {
  const people = await gatherPeople(world, many, 1_000);
  const asked: Asked[] = [];
  // What is made ready at the first use is not part of the measure.
  await letWork(people, pauseMs / 4, AbortSignal.timeout(minuteMs / 2), () => {});
  const memory: { at: number; bytes: Map<string, number> }[] = [];
  const used: { at: number; time: ProcessorTime }[] = [];
  const began = Date.now();
  const look = () => {
    const at = Date.now() - began;
    memory.push({ at, bytes: measureMemory(world.product) });
    used.push({ at, time: measureProcessor(world.product) });
  };
  look();
  const timer = setInterval(look, 2_000);
  const yardstick = await startYardstick();
  await letWork(people, pauseMs, AbortSignal.timeout(minutes * minuteMs), (each) => asked.push(each));
  clearInterval(timer);
  await yardstick.stop();

  console.log(`${asked.length} requests of ${many} accounts in ${minutes} minutes, ${(asked.length / minutes / 60).toFixed(1)} a second`);
  judgeAnswers(asked);
  judgeTimes(asked, yardstick);
  printProcessor(used, asked);
  judgeMemory(memory);
  faults.push(...(await flood(world, people)));
} finally {
  await world.close();
}
for (const fault of faults) console.log(`FAULT ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

function judgeAnswers(all: Asked[]): void {
  const counts = new Map<string, number>();
  for (const { status } of all) counts.set(String(status), (counts.get(String(status)) ?? 0) + 1);
  console.log(`answers: ${[...counts].map(([status, times]) => `${status} × ${times}`).join(', ')}`);
  for (const [status, times] of counts) if (!/^(2..|429)$/.test(status)) faults.push(`${times} requests were answered ${status}`);
}

function judgeTimes(all: Asked[], { asked: bare }: Yardstick): void {
  console.log('milliseconds at the median     first minute   last minute');
  const compare = (name: string, some: { at: number; ms: number }[]) => {
    const within = (from: number, to: number) => summarize(some.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms));
    const [first, last] = [within(0, minuteMs), within((minutes - 1) * minuteMs, minutes * minuteMs)];
    const ratio = last.p50 / first.p50;
    console.log(
      `  ${name.padEnd(28)} ${first.p50.toFixed(0).padStart(12)} ${last.p50.toFixed(0).padStart(13)}   ${ratio.toFixed(2)}×   (p95 ${first.p95.toFixed(0)}, ${last.p95.toFixed(0)}; ${first.count}, ${last.count} requests)`,
    );
    return ratio;
  };
  // A machine that became slower excuses; one that became quicker asks no more.
  const machine = Math.max(1, compare('a bare server', bare));
  for (const habit of habits) {
    const some = all.filter((each) => each.habit === habit);
    const growth = compare(habit, some) / machine;
    if (growth > 1.2) faults.push(`${habit} took ${growth.toFixed(2)} times as long in the last minute, the machine's own change left out`);
  }
}

/** What the machine had to give, and what of it a request took: tells a service that became slower from a machine that did. */
function printProcessor(used: { at: number; time: ProcessorTime }[], all: Asked[]): void {
  const between = (from: number, to: number, read: (time: ProcessorTime) => number) => {
    const [first, last] = [used.find(({ at }) => at >= from), used.findLast(({ at }) => at <= to)];
    return first && last ? (read(last.time) - read(first.time)) / (last.at - first.at) : Number.NaN;
  };
  const spans = [
    [0, minuteMs],
    [(minutes - 1) * minuteMs, minutes * minuteMs],
  ] as const;
  console.log('processor time in milliseconds a request: first minute   last minute');
  for (const name of used.at(-1)?.time.parts.keys() ?? []) {
    const each = spans.map(([from, to]) => {
      const requests = all.filter(({ at }) => at >= from && at < to).length;
      return ((between(from, to, ({ parts }) => parts.get(name) ?? 0) * (to - from)) / requests).toFixed(1).padStart(12);
    });
    console.log(`  ${name.padEnd(28)} ${each.join(' ')}`);
  }
  const stolen = spans.map(([from, to]) => `${(between(from, to, (time) => time.stolen) * 50).toFixed(1)} %`.padStart(12));
  console.log(`  ${'taken by other machines'.padEnd(28)} ${stolen.join(' ')}`);
}

/** Level: the last quarter takes no more than the quarter before it and a little. */
function judgeMemory(memory: { at: number; bytes: Map<string, number> }[]): void {
  const settledMs = Math.min(5, minutes / 4) * minuteMs;
  const halfMs = (minutes * minuteMs - settledMs) / 2;
  console.log(
    `MiB at the median              minutes ${(settledMs / minuteMs).toFixed(0)} to ${((settledMs + halfMs) / minuteMs).toFixed(1)}   from then on`,
  );
  for (const name of memory.at(-1)?.bytes.keys() ?? []) {
    const within = (from: number, to: number) =>
      summarize(memory.filter(({ at }) => at >= from && at < to).map(({ bytes }) => (bytes.get(name) ?? 0) / 2 ** 20)).p50;
    const [before, after] = [within(settledMs, settledMs + halfMs), within(settledMs + halfMs, Number.POSITIVE_INFINITY)];
    console.log(`  ${name.padEnd(28)} ${before.toFixed(0).padStart(12)} ${after.toFixed(0).padStart(13)}`);
    if (after > before * 1.1 + 16) faults.push(`the memory of ${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)} MiB`);
  }
}
