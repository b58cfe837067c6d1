import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { findBrokenBooks, findUnfinished } from './books.ts';
import { Caller } from './caller.ts';
import { deleteAccounts } from './deletions.ts';
import { deliverEvents } from './deliveries.ts';
import { deriveTables } from './derivations.ts';
import { editRows } from './edits.ts';
import { ingestFiles } from './ingests.ts';
import type { Installation } from './installation.ts';
import { mergeFiles } from './merges.ts';
import type { Story } from './story.ts';
import type { Strike } from './strikes.ts';

export interface Report {
  rounds: number;
  faults: string[];
  /** How much each story had acknowledged. */
  done: Record<string, number>;
  /** From the end of each strike until everything was ready. */
  readyMs: number[];
}

/** Jobs of a worker that was killed are noticed by its silence: what they do is looked at after so many rounds. */
const roundsToRest = 10;

/** Strikes, round by round, at people who work; after each nothing may be lost, done twice or left halfway. */
export async function runRounds(installation: Installation, strikes: Strike[], say: (line: string) => void): Promise<Report> {
  const caller = new Caller(installation.product.apiUrl, installation.session);
  const events = await deliverEvents(caller);
  const quick = [await editRows(caller), await mergeFiles(caller), await deriveTables(caller)];
  const slow: Story[] = [await ingestFiles(caller), events, deleteAccounts(caller, installation)];
  const stories = [...quick, ...slow];
  const report: Report = { rounds: 0, faults: [], done: {}, readyMs: [] };
  const note = (round: number, found: string[]) => {
    for (const fault of found) {
      report.faults.push(`round ${round}: ${fault}`);
      say(`round ${round}: ${fault}`);
    }
  };
  const check = async (round: number, chosen: Story[]) => {
    for (const story of chosen)
      note(
        round,
        (await story.findFaults()).map((fault) => `${story.name}: ${fault}`),
      );
    note(round, await findBrokenBooks(installation));
    note(round, caller.unexpected.splice(0));
  };

  for (const [i, strike] of strikes.entries()) {
    const round = i + 1;
    let isOver = false;
    const works = Promise.allSettled(
      stories.map(async (story) => {
        while (!isOver) {
          await story.work();
          if (slow.includes(story)) await delay(500);
        }
      }),
    );
    await delay(randomInt(100, 1_500));
    const what = await strike(installation);
    const readyMs = await installation.waitUntilReady();
    isOver = true;
    if (readyMs === null) {
      caller.isOver = true;
      note(round, [`never ready again after ${what}:\n${installation.product.output().slice(-2_000)}`]);
      break;
    }
    report.readyMs.push(readyMs);
    for (const work of await works) if (work.status === 'rejected') note(round, [String(work.reason)]);
    await check(round, quick);
    say(`round ${round} of ${strikes.length}: ${what}, ready after ${(readyMs / 1000).toFixed(1)} s`);
    report.rounds = round;
    if (round % roundsToRest === 0 || round === strikes.length) {
      await check(round, slow);
      note(round, await findUnfinished(installation, caller));
    }
  }
  await events.stop();
  report.done = Object.fromEntries(stories.map((story) => [story.name, story.count()]));
  return report;
}

export function describeReport(name: string, { rounds, faults, done, readyMs }: Report): string {
  const sorted = readyMs.toSorted((a, b) => a - b);
  const seconds = (share: number) =>
    ((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN) / 1000).toFixed(1);
  return [
    `${name}: ${rounds} rounds, ${faults.length} faults`,
    `  acknowledged   ${Object.entries(done)
      .map(([story, count]) => `${count} ${story}`)
      .join(', ')}`,
    `  ready again    median ${seconds(0.5)} s, 95 % ${seconds(0.95)} s, worst ${seconds(1)} s`,
    ...faults.map((fault) => `  ${fault}`),
  ].join('\n');
}
