// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** The table of texts that cells point into by number. */

import { ByteWindow } from './byteWindow.ts';
import { refuseDamaged } from './fileRefusals.ts';
import { type UnpackContext, unpackEntry } from './inflate.ts';
import {
  AMP,
  BANG,
  CR,
  findTagEnd,
  GT,
  isNameEnd,
  joinRuns,
  LOWER_X,
  LT,
  QUESTION,
  SLASH,
  skipDeclaration,
  UNDERSCORE,
} from './scanText.ts';
import { StringArena } from './stringArena.ts';
import { recodeXml } from './xmlEncoding.ts';
import type { ZipEntry } from './zip.ts';

export type SharedStrings = Pick<StringArena, 'count' | 'get'>;

export async function readSharedStrings(context: UnpackContext, entry: ZipEntry | undefined): Promise<SharedStrings> {
  const arena = new StringArena();
  if (!entry) return arena;
  const window = new ByteWindow(context.limits.elementBytes);
  const scanner = new SharedStringScanner(arena);
  for await (const chunk of recodeXml(unpackEntry(context, entry))) {
    window.append(chunk);
    window.start = scanner.scan(window.bytes, window.start, window.end);
  }
  if (!scanner.closed && scanner.opened) throw refuseDamaged('its table of texts is cut off');
  return arena;
}

class SharedStringScanner {
  opened = false;
  closed = false;
  /** Length of `x:` where the file uses a namespace prefix. */
  private prefix = 0;

  constructor(private readonly arena: StringArena) {}

  /** Reads every complete element; returns where it stopped. */
  scan(b: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      while (at < end && b[at] !== LT) at += 1;
      if (at >= end) return at;
      const next = b[at + 1]!;
      let after: number;
      if (next === BANG || next === QUESTION) after = skipDeclaration(b, at, end);
      else if (this.opened && next !== SLASH && this.isItem(b, at)) after = this.readItem(b, at, end);
      else after = this.readOther(b, at, end);
      if (after < 0) return at;
      at = after;
    }
    return at;
  }

  private isItem(b: Buffer, at: number): boolean {
    const name = at + 1 + this.prefix;
    return b[name] === 0x73 && b[name + 1] === 0x69 && isNameEnd(b[name + 2]!);
  }

  private readOther(b: Buffer, at: number, end: number): number {
    const close = findTagEnd(b, at, end);
    if (close < 0) return -1;
    if (!this.opened) {
      const colon = b.subarray(at, close).indexOf(':');
      const name = b.toString('latin1', at + 1, close).split(/[\s/>]/, 1)[0]!;
      this.prefix = colon > 0 && name.includes(':') ? name.indexOf(':') + 1 : 0;
      this.opened = true;
      if (b[close - 1] === SLASH) this.closed = true;
    } else if (b[at + 1] === SLASH && b.toString('latin1', at + 2 + this.prefix, at + 5 + this.prefix) === 'sst') this.closed = true;
    return close + 1;
  }

  private readItem(b: Buffer, at: number, end: number): number {
    const open = findTagEnd(b, at, end);
    if (open < 0) return -1;
    if (b[open - 1] === SLASH) {
      this.arena.finish();
      return open + 1;
    }
    const fast = this.readPlain(b, open + 1, end);
    if (fast !== 0) return fast;
    const close = findItemEnd(b, open + 1, end, this.prefix);
    const done = close < 0 ? -1 : findTagEnd(b, close, end);
    if (done < 0) return -1;
    this.arena.appendString(joinRuns(b.toString('utf8', open + 1, close)));
    this.arena.finish();
    return done + 1;
  }

  /** `<t>text</t></si>` without anything to decode; 0 when it is something else. */
  private readPlain(b: Buffer, at: number, end: number): number {
    const p = this.prefix;
    if (b[at] !== LT || b[at + 1 + p] !== 0x74 || !isNameEnd(b[at + 2 + p]!)) return 0;
    let start = at + 2 + p;
    while (start < end && b[start] !== GT) start += 1;
    if (b[start - 1] === SLASH) return 0;
    start += 1;
    let stop = start;
    for (; stop < end; stop += 1) {
      const ch = b[stop]!;
      if (ch === LT) break;
      if (ch === AMP || ch === CR || (ch === UNDERSCORE && b[stop + 1] === LOWER_X)) return 0;
    }
    // </t></si>
    const close = stop + 4 + p;
    const done = close + 5 + p;
    if (done > end) return -1;
    if (b[stop + 1] !== SLASH || b[stop + 2 + p] !== 0x74 || b[close] !== LT || b[close + 1] !== SLASH || b[close + 2 + p] !== 0x73)
      return 0;
    if (b[close - 1] !== GT || b[done - 1] !== GT) return 0;
    this.arena.append(b, start, stop);
    this.arena.finish();
    return done;
  }
}

/** Position of `</si>`, or -1. Comments and CDATA may hold the same bytes and are passed over. */
function findItemEnd(b: Buffer, from: number, end: number, prefix: number): number {
  let at = from;
  while (at < end) {
    if (b[at] !== LT) at += 1;
    else if (b[at + 1] === BANG || b[at + 1] === QUESTION) {
      at = skipDeclaration(b, at, end);
      if (at < 0) return -1;
    } else if (b[at + 1] === SLASH && b[at + 2 + prefix] === 0x73 && b[at + 3 + prefix] === 0x69 && isNameEnd(b[at + 4 + prefix]!))
      return at;
    else at += 1;
  }
  return -1;
}
