interface Part {
  accounts: number;
  next: string | null;
}

/** Repeats an activity that works on some accounts at a time. Returns how many there were. */
export async function walkAccounts(work: (after: string) => Promise<Part>): Promise<number> {
  let accounts = 0;
  for (let after: string | null = ''; after !== null; ) {
    const part: Part = await work(after);
    accounts += part.accounts;
    after = part.next;
  }
  return accounts;
}
