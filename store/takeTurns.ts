/** One at a time, in the order in which they came: those who wait for the same thing, within this process. */
export class Turns {
  private readonly last = new Map<string, Promise<void>>();

  isTaken(key: string): boolean {
    return this.last.has(key);
  }

  /** Waits until it is one's turn; what is returned ends it. */
  async take(key: string): Promise<() => void> {
    const before = this.last.get(key);
    let end: () => void = () => {};
    const mine = new Promise<void>((done) => {
      end = done;
    });
    this.last.set(key, mine);
    await before;
    return () => {
      if (this.last.get(key) === mine) this.last.delete(key);
      end();
    };
  }
}
