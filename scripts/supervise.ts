import { setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../store/lifecycle.ts';
import type { Report } from './embedded/report.ts';
import type { RunningProcess } from './embedded/runningProcess.ts';

/** A process that must always be running; it is started again when it ends. */
interface Part {
  name: string;
  /** Parts that must be running before this one is started again. */
  needs: string[];
  start(signal: AbortSignal): Promise<RunningProcess>;
  /** The log to look into when it keeps dying. */
  logPath?: string;
}

export interface Supervisor {
  /** Aborted when everything is to stop. */
  signal: AbortSignal;
  /** The first start; rejects when that fails. From then on the part is started again whenever it ends. */
  start(part: Part): Promise<void>;
  /** Nothing is started any more, and starts under way are broken off. */
  halt(): void;
  /** Ends all parts gracefully, group after group; each has its own bound. */
  stop(order: string[][]): Promise<void>;
  /** Ends all at once. */
  kill(): void;
  /** Resolves, with the reason, when a part dies too often. */
  gaveUp: Promise<string>;
}

/** Wait before the second start within `deathWindowMs`, doubled for each further one. The first is at once. */
const firstBackoffMs = 200;
const maxBackoffMs = 5_000;
const fullDiskMs = 1_000;
const maxDeaths = 5;
const deathWindowMs = 60_000;

interface State {
  part: Part;
  running: RunningProcess | null;
  deathsMs: number[];
}

export function createSupervisor(report: Report): Supervisor {
  const halt = new AbortController();
  const { signal } = halt;
  const states = new Map<string, State>();
  const loops: Promise<void>[] = [];
  let giveUp: (why: string) => void = () => {};
  const gaveUp = new Promise<string>((resolve) => {
    giveUp = resolve;
  });

  async function startPart(state: State): Promise<void> {
    const running = await state.part.start(signal);
    if (signal.aborted) {
      await running.stop();
      signal.throwIfAborted();
    }
    state.running = running;
  }

  /** Runs until everything is stopped. */
  async function keepRunning(state: State): Promise<void> {
    const { part } = state;
    while (state.running) {
      const { ended, readTail } = state.running;
      const how = await ended;
      state.running = null;
      if (signal.aborted) return;
      await startAgain(state, [`${part.name} ended (${how})`, ...readTail().map((line) => `    ${line}`)]);
    }
  }

  async function startAgain(state: State, [what, ...details]: string[]): Promise<void> {
    const { part } = state;
    for (;;) {
      // On a full disk nothing starts until somebody makes room: that is waited for, and no reason to give up.
      const isFull = [what, ...details].some((line) => /No space left on device|ENOSPC/.test(line ?? ''));
      if (isFull) state.deathsMs = [];
      const deaths = countDeaths(state);
      report.say(deaths > maxDeaths ? `${what}` : `${what}; starting it again`, 'warn');
      for (const line of details) report.say(line, 'warn');
      if (deaths > maxDeaths)
        return giveUp(`${part.name} ended ${deaths} times within a minute${part.logPath ? `; its log is ${part.logPath}` : ''}`);
      try {
        const backoffMs = isFull ? fullDiskMs : Math.min(maxBackoffMs, firstBackoffMs * (2 ** (deaths - 1) - 1));
        await delay(backoffMs, undefined, { signal });
        await waitForNeeds(part);
        await startPart(state);
        return report.say(`${part.name} is running again`);
      } catch (error) {
        if (signal.aborted) return;
        [what, ...details] = [
          `${part.name} could not be started`,
          ...describeError(error)
            .split('\n')
            .map((line) => `    ${line}`),
        ];
      }
    }
  }

  async function waitForNeeds(part: Part): Promise<void> {
    const isDown = (name: string) => states.has(name) && states.get(name)?.running === null;
    while (part.needs.some(isDown)) await delay(50, undefined, { signal });
  }

  const stopStarting = () => halt.abort(new Error('stopping'));

  return {
    signal,
    gaveUp,
    halt: stopStarting,
    async start(part) {
      signal.throwIfAborted();
      const state: State = { part, running: null, deathsMs: [] };
      states.set(part.name, state);
      await startPart(state);
      loops.push(keepRunning(state));
    },
    async stop(order) {
      stopStarting();
      for (const names of order) await Promise.all(names.map((name) => states.get(name)?.running?.stop()));
      await Promise.all(loops);
    },
    kill() {
      stopStarting();
      for (const { running } of states.values()) running?.kill();
    },
  };
}

function countDeaths(state: State): number {
  const nowMs = Date.now();
  state.deathsMs = [...state.deathsMs.filter((ms) => nowMs - ms < deathWindowMs), nowMs];
  return state.deathsMs.length;
}
