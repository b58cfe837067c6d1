import { findFreePort } from '../../scripts/embedded/ports.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';

export interface FaultRun {
  books: readonly string[];
  /** How many edits are made in all. */
  events: number;
  edit(book: string): Promise<unknown>;
  /** Subscribes the address to what happens in the books. */
  subscribe(url: string): Promise<unknown>;
  /** Ends the worker the hard way and starts another. */
  killWorker(): Promise<void>;
}

/** What was wrong with what came: nothing, if all is well. */
export interface FaultReport {
  received: number;
  outOfOrder: string[];
  /** Events that came under several delivery ids. */
  renamed: string[];
}

/**
 * Makes edits for a receiver that refuses three of ten deliveries and is away for a while; the worker is killed twice on the way.
 * Waits until everything has been taken, as long as it takes.
 */
export async function deliverThroughFaults({ books, events, edit, subscribe, killWorker }: FaultRun): Promise<FaultReport> {
  let random = 1;
  const refuses = () => {
    random = (random * 48_271) % 2_147_483_647;
    return random % 10 < 3;
  };
  const runs: Receiver[] = [];
  const open = async (port: number) => {
    const receiver = await startReceiver(() => (refuses() ? 503 : 200), port);
    runs.push(receiver);
    return receiver;
  };
  // One that nobody takes while the receiver is away.
  const port = await findFreePort();
  const first = await open(port);
  await subscribe(first.url);
  const faults: [at: number, fault: () => Promise<unknown>][] = [
    [0.2, () => first.stop()],
    [0.4, killWorker],
    [0.6, () => open(port)],
    [0.8, killWorker],
  ];
  for (let n = 0; n < events; n += 1) {
    while (faults[0] && n >= faults[0][0] * events) await faults.shift()?.[1]();
    await edit(books[n % books.length] as string);
  }
  for (const [, fault] of faults) await fault();
  const takenInAll = () => takeFirst(runs.flatMap(({ taken }) => taken));
  while (takenInAll().length < events) await new Promise((done) => setTimeout(done, 200));
  await runs.at(-1)?.stop();
  return judge(
    books,
    takenInAll(),
    runs.flatMap(({ received }) => received),
  );
}

function takeFirst(all: Received[]): Received[] {
  return [...new Map(all.toReversed().map((received) => [received.event.id, received])).values()].reverse();
}

function judge(books: readonly string[], taken: Received[], received: Received[]): FaultReport {
  const report: FaultReport = { received: received.length, outOfOrder: [], renamed: [] };
  for (const book of books) {
    const versions = taken.flatMap(({ event }) =>
      event.workbook_id === book && 'edit_version' in event.data ? [Number(event.data.edit_version)] : [],
    );
    versions.forEach((version, i) => {
      if (version !== (versions[0] as number) + i) report.outOfOrder.push(`${book}: ${version} at ${i}`);
    });
  }
  const ids = new Map<string, string>();
  for (const { event, id, headers } of received) {
    if ((ids.get(event.id) ?? id) !== id || headers['x-svc-delivery'] !== id) report.renamed.push(event.id);
    ids.set(event.id, id);
  }
  return report;
}
