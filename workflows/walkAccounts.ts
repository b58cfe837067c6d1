import { ApplicationFailure } from '@temporalio/workflow';

interface Part {
  accounts: number;
  next: string | null;
  failures?: string[];
}

/** Repeats activities that work on some accounts at a time. Returns how many accounts the first one worked on. */
export async function walkAccounts(...works: ((after: string) => Promise<Part>)[]): Promise<number> {
  const counts: number[] = [];
  const failures: string[] = [];
  for (const work of works) {
    let accounts = 0;
    for (let after: string | null = ''; after !== null; ) {
      const part: Part = await work(after);
      accounts += part.accounts;
      failures.push(...(part.failures ?? []));
      after = part.next;
    }
    counts.push(accounts);
  }
  // Whatever could be done is done. The next run of the schedule finds those that are left.
  if (failures.length > 0) throw ApplicationFailure.nonRetryable(failures.join('\n').slice(0, 4000), 'AccountsFailed');
  return counts[0] ?? 0;
}
