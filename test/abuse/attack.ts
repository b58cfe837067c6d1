import { setTimeout as delay } from 'node:timers/promises';
import { readProcesses } from '../faults/product.ts';
import { type Bystander, type Habit, type Latencies, makeBystander, watch } from './bystander.ts';
import { type Peaks, watchMemory } from './memoryWatch.ts';
import type { Person, World } from './world.ts';

/** Something one ordinary person can do to a service. */
export interface Attack {
  name: string;
  /** What somebody else does meanwhile. */
  habits: Habit[];
  /** Settings of the service that the attack needs. */
  env?: Record<string, string>;
  /** Makes what the attack needs, and returns the attack itself: it runs until it is over, and tells what it was answered. */
  prepare(world: World, attacker: Person, size: Size): Promise<(signal: AbortSignal) => Promise<Outcome>>;
  /** How long it is let go on. */
  seconds: Record<Size, number>;
  /** What did not hold, in words. */
  judge?(report: AttackReport): string[];
  /** The same about times, which say something only at full size and on a machine with nothing else to do. */
  judgeTimes?(report: AttackReport): string[];
}

export type Size = 'short' | 'full';

/** How often each answer came: a status, or what the connection said. */
export type Outcome = Map<string, number>;

export interface AttackReport {
  outcome: Outcome;
  quiet: Map<Habit, Latencies>;
  during: Map<Habit, Latencies>;
  peaks: Peaks;
  /** Parts that are another process than before. */
  restarted: string[];
  faults: string[];
}

/** What no attack may take the API over. */
const apiLimitBytes = 1024 ** 3;

export async function runAttack(world: World, attack: Attack, size: Size): Promise<AttackReport> {
  const [attacker, person] = [await world.addPerson('attacker'), await world.addPerson('bystander')];
  const bystander = await makeBystander(person);
  const begin = await attack.prepare(world, attacker, size);
  const quiet = await observe(bystander, attack.habits, () => delay(size === 'full' ? 5_000 : 1_500));
  const before = readProcesses(world.product);
  const memory = watchMemory(world.product);
  let outcome: Outcome = new Map();
  const during = await observe(bystander, attack.habits, async () => {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), attack.seconds[size] * 1000);
    outcome = await begin(over.signal);
    clearTimeout(timer);
  });
  const peaks = memory.stop();
  const after = readProcesses(world.product);
  const restarted = [...before].filter(([name, { pid }]) => after.get(name)?.pid !== pid).map(([name]) => name);
  const report: AttackReport = { outcome, quiet, during, peaks, restarted, faults: [] };
  const slow = size === 'full' ? (attack.judgeTimes?.(report) ?? []) : [];
  report.faults = [...findFaults(report), ...(attack.judge?.(report) ?? []), ...slow];
  return report;
}

async function observe(bystander: Bystander, wanted: Habit[], work: () => Promise<unknown>): Promise<Map<Habit, Latencies>> {
  // All habits together stay far below what one person may send in a minute.
  const watches = wanted.map((habit) => [habit, watch(bystander, habit, 150 * wanted.length)] as const);
  await work();
  return new Map(await Promise.all(watches.map(async ([habit, { stop }]) => [habit, await stop()] as const)));
}

/** What must hold of every attack. */
function findFaults({ during, peaks, restarted }: AttackReport): string[] {
  const api = peaks.get('api') ?? 0;
  return [
    ...restarted.map((part) => `${part} did not survive`),
    ...[...during.values()].flatMap(({ failures }) => failures.slice(0, 3).map((failure) => `somebody else was refused: ${failure}`)),
    ...(api > apiLimitBytes ? [`the API took ${formatBytes(api)}`] : []),
  ];
}

export function formatBytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

export function count(outcome: Outcome, what: string | number): void {
  outcome.set(String(what), (outcome.get(String(what)) ?? 0) + 1);
}
