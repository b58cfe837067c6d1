/** Whole numbers in a row, as many as come, without the size of an object for each. */
export class IntList {
  length = 0;
  private items: Int32Array;

  /** @param capacity how many are expected; more are taken, too. */
  constructor(capacity = 64) {
    this.items = new Int32Array(Math.max(1, capacity));
  }

  push(value: number): void {
    if (this.length === this.items.length) {
      const grown = new Int32Array(this.items.length * 2);
      grown.set(this.items);
      this.items = grown;
    }
    this.items[this.length] = value;
    this.length += 1;
  }

  /** What was pushed; nothing may be pushed afterwards. */
  finish(): Int32Array {
    return this.items.subarray(0, this.length);
  }
}
