import { describe, expect, it } from 'vitest';
import { formatStorageLimits, parseStorageLimits, usualStorageLimits } from '../../core/storage/limits.ts';
import { describeSize, parseSize } from '../../core/storage/sizes.ts';
import { countAdded, countResultShare, countRoom } from '../../core/storage/use.ts';
import { planRowEdit } from '../../core/table/edit.ts';
import type { LogEntry } from '../../core/table/log.ts';

const unlimited = Number.POSITIVE_INFINITY;

describe('a size', () => {
  it.each([
    ['0', 0],
    ['17', 17],
    ['17B', 17],
    ['5kB', 5_000],
    ['5 mb', 5_000_000],
    ['1.5GB', 1_500_000_000],
    ['2TB', 2_000_000_000_000],
    ['unlimited', unlimited],
    [' Unlimited ', unlimited],
  ])('%s is %s bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', 'GB', '-1', '1e9', '1PB', '1,5GB', '5 G', 'none'])('%j is none', (text) => {
    expect(parseSize(text)).toBeNull();
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_500, '1.5 kB'],
    [100e9, '100 GB'],
    [2e12, '2 TB'],
  ])('of %s bytes is shown as %s', (bytes, text) => {
    expect(describeSize(bytes)).toBe(text);
  });
});

describe('limits of storage', () => {
  it.each([
    ['5GB', { free: 5e9, payg: 5e9, solo: 5e9, pro: 5e9 }],
    ['unlimited', { free: unlimited, payg: unlimited, solo: unlimited, pro: unlimited }],
    ['free=1GB', { ...usualStorageLimits, free: 1e9 }],
    ['free = 1GB , pro = unlimited', { ...usualStorageLimits, free: 1e9, pro: unlimited }],
  ])('are read from %s, and written so that they are read again', (text, limits) => {
    expect(parseStorageLimits(text)).toEqual(limits);
    expect(parseStorageLimits(formatStorageLimits(limits))).toEqual(limits);
  });

  it.each(['free', 'free=', 'gold=1GB', 'free=1GB,', 'free=1GB;pro=2GB', 'toString=1GB'])('are not read from %s', (text) => {
    expect(parseStorageLimits(text)).toBeNull();
  });
});

const use = { tables: 600, sources: 300, results: 50, resultCount: 2, limit: 1_000 };

describe('room', () => {
  it('is what tables and sources leave, results or not', () => {
    expect(countRoom(use)).toBe(100);
    expect(countRoom({ ...use, limit: 800 })).toBe(0);
    expect(countRoom({ ...use, limit: unlimited })).toBe(unlimited);
  });

  it('of results ends at their limit and at that of the account, but a tenth stays theirs', () => {
    expect(countResultShare(use, 70)).toBe(70);
    expect(countResultShare(use, 400)).toBe(100);
    expect(countResultShare(use, 5_000)).toBe(500);
    expect(countResultShare({ ...use, limit: unlimited }, unlimited)).toBe(unlimited);
  });
});

describe('an edit', () => {
  const entry = (op: LogEntry['op'], cells: LogEntry['cells'], before: LogEntry['before']): LogEntry => ({
    rowId: 1,
    op,
    changed: [1],
    cells,
    before,
  });

  it('adds what its entries hold', () => {
    const long = 'x'.repeat(1_000);
    expect(countAdded(planRowEdit('rows.upsert', [entry('I', { 1: long }, null)]))).toBeGreaterThan(1_000);
    expect(countAdded(planRowEdit('rows.upsert', [entry('U', { 1: long }, { 1: long })]))).toBeGreaterThan(2_000);
  });

  it('that only removes rows adds nothing', () => {
    expect(countAdded(planRowEdit('rows.delete', [entry('D', null, { 1: 'x'.repeat(1_000) })]))).toBe(0);
  });

  it('adds its file', () => {
    const file = { key: 'k', kind: 'insert' as const, rows: 1, minRow: 1, maxRow: 1, bytes: 777 };
    const layer = { kind: 'segment' as const, key: 'k', rows: 1, minRow: 1, maxRow: 1, bytes: 777 };
    const plan = { ...planRowEdit('rows.upsert', [entry('I', {}, null)]), entries: [], appended: { layer, file } };
    expect(countAdded(plan)).toBe(777);
    expect(countAdded({ ...plan, inserted: 0, deleted: 5 })).toBe(0);
  });

  it('that writes all layers anew adds them', () => {
    const layers = [
      { kind: 'segment' as const, key: 'a', rows: 1, minRow: 1, maxRow: 1, bytes: 10 },
      { kind: 'segment' as const, key: 'b', rows: 1, minRow: 2, maxRow: 2, bytes: 20 },
      { kind: 'log' as const, after: 1, upTo: null },
    ];
    expect(countAdded({ ...planRowEdit('column.retype', []), layers })).toBe(30);
  });
});
