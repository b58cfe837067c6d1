/** A lock per key within this process, granted in order of requests. */
export class KeyedLock {
  private readonly last = new Map<string, Promise<void>>();

  isHeld(key: string): boolean {
    return this.last.has(key);
  }

  /** Returns the function that releases the lock. */
  async acquire(key: string): Promise<() => void> {
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
