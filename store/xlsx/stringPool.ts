// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** The strings of one sheet or batch, each distinct one decoded once. */

import { randomInt } from 'node:crypto';
import type { SharedStrings } from './sharedStrings.ts';
import { StringArena } from './stringArena.ts';

/**
 * FNV-1a: `hash = Math.imul(hash ^ byte, HASH_STEP)`, from this start. The start is random per process, so that nobody can
 * craft texts that all collide. Results do not depend on it.
 */
export const HASH_START = randomInt(2 ** 32) | 0;
export const HASH_STEP = 0x01000193;

export class StringPool {
  strings: string[] = [];
  private readonly fromShared: Int32Array;
  private readonly touched: number[] = [];
  /** Slots of a hash table over `arena`: 1 + index of an interned string. */
  private slots = new Int32Array(1 << 10);
  private readonly arena = new StringArena();
  private hashes = new Int32Array(512);
  private ids = new Int32Array(512);
  private byText: Map<string, number> | null = null;
  /** The id of the empty text; -1 while there is none. */
  empty = -1;

  constructor(private readonly shared: SharedStrings) {
    this.fromShared = new Int32Array(shared.count).fill(-1);
  }

  /** -1 when there is no such string. */
  takeShared(index: number): number {
    const known = this.fromShared[index];
    if (known === undefined) return -1;
    if (known >= 0) return known;
    const text = this.shared.get(index);
    const id = text === '' && this.empty >= 0 ? this.empty : this.add(text);
    this.fromShared[index] = id;
    this.touched.push(index);
    return id;
  }

  takeText(text: string): number {
    this.byText ??= new Map();
    let id = this.byText.get(text);
    if (id === undefined) {
      id = text === '' && this.empty >= 0 ? this.empty : this.add(text);
      this.byText.set(text, id);
    }
    return id;
  }

  /** Bytes without entities or escapes; `hash` is their hash, which the caller computed while scanning them. */
  takeBytes(bytes: Buffer, start: number, end: number, hash: number): number {
    const mask = this.slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (let entry = this.slots[slot]!; entry !== 0; entry = this.slots[slot]!) {
      if (this.hashes[entry - 1] === hash && this.arena.equals(entry - 1, bytes, start, end)) return this.ids[entry - 1]!;
      slot = (slot + 1) & mask;
    }
    this.arena.append(bytes, start, end);
    const entry = this.arena.finish();
    if (entry === this.hashes.length) this.growEntries();
    this.hashes[entry] = hash;
    this.slots[slot] = entry + 1;
    const id = this.add(bytes.toString('utf8', start, end));
    this.ids[entry] = id;
    if (this.arena.count * 2 > this.slots.length) this.rehash();
    return id;
  }

  /** Starts an empty list of strings; the previous list belongs to the caller. */
  reset(): void {
    this.strings = [];
    for (const index of this.touched) this.fromShared[index] = -1;
    this.touched.length = 0;
    if (this.arena.count > 0) this.slots.fill(0);
    this.arena.clear();
    this.byText = null;
    this.empty = -1;
  }

  private add(text: string): number {
    const id = this.strings.push(text) - 1;
    if (text === '') this.empty = id;
    return id;
  }

  private growEntries(): void {
    const [hashes, ids] = [new Int32Array(this.hashes.length * 2), new Int32Array(this.hashes.length * 2)];
    hashes.set(this.hashes);
    ids.set(this.ids);
    this.hashes = hashes;
    this.ids = ids;
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 4);
    const mask = this.slots.length - 1;
    for (let entry = 0; entry < this.arena.count; entry += 1) {
      const hash = this.hashes[entry]!;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = entry + 1;
    }
  }
}
