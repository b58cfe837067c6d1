import { describe, expect, it } from 'vitest';
import { Ledger } from '../../core/structuring/building/ledger.ts';
import { findDoubt } from '../../core/structuring/findings/doubt.ts';
import type { SpecRegion } from '../../core/structuring/spec/spec.ts';
import { drawSheet } from './picture.ts';
import { makeRegion } from './structure.ts';

const open = (picture = 'a|b\nc|d') => {
  const view = drawSheet(picture);
  return { view, ledger: new Ledger(view) };
};

describe('Ledger', () => {
  it('counts cells by role, and lists those that have none', () => {
    const { ledger } = open();
    ledger.place(0, 'header');
    ledger.place(1, 'title');
    ledger.place(2, 'value');
    ledger.place(-1, 'value');
    expect(ledger.summarize()).toMatchObject({ cells: 4, headers: 1, titles: 1, values: 1, labels: 0, notes: 0, lost: ['B2'], twice: [] });
  });

  it('lists cells that were placed twice', () => {
    const { ledger } = open();
    ledger.place(3, 'value');
    ledger.place(3, 'note');
    ledger.place(1, 'value');
    ledger.place(1, 'value');
    expect(ledger.summarize()).toMatchObject({ twice: ['B1', 'B2'], values: 2, notes: 0 });
  });

  it('lets one region share a cell with itself, and no other', () => {
    const { ledger } = open();
    ledger.share(0, 'label', 'r1');
    ledger.share(0, 'label', 'r1');
    expect(ledger.summarize().twice).toEqual([]);
    ledger.share(0, 'label', 'r2');
    expect(ledger.summarize().twice).toEqual(['A1']);
  });

  it('counts cells that nobody chose as omitted, unless they are placed already', () => {
    const { ledger } = open();
    ledger.place(0, 'header');
    for (const cell of [0, 1, 2, 3]) ledger.omit(cell);
    expect(ledger.summarize()).toMatchObject({ headers: 1, omitted: 3, lost: [] });
  });

  it('lists at most fifty', () => {
    const { ledger } = open(Array.from({ length: 60 }, (_, n) => `x${n}`).join('\n'));
    expect(ledger.summarize().lost).toHaveLength(50);
  });
});

describe('findDoubt', () => {
  const region = (kind: SpecRegion['kind'], range: string) => makeRegion({ id: range, range, kind });
  const placed = (picture: string, kind: SpecRegion['kind'], range: string) => {
    const { view, ledger } = open(picture);
    for (let cell = 0; cell < view.grid.size; cell += 1) ledger.place(cell, 'value');
    return findDoubt(view, [region(kind, range)], ledger.summarize());
  };
  const numbers = Array.from({ length: 60 }, (_, n) => `${n}`).join('\n');

  it('is null for a sheet whose cells are all in tables', () => expect(placed(numbers, 'data', 'A1:A60')).toBeNull());

  it('is about numbers that stand in texts', () => expect(placed(numbers, 'note', 'A1:A60')).toMatch(/60 numbers stand outside/));

  it('is about cells that are lost or used twice', () => {
    const { view, ledger } = open();
    expect(findDoubt(view, [], ledger.summarize())).toMatch(/lost: A1, B1, A2, B2/);
    for (const cell of [0, 1, 2, 3, 3]) ledger.place(cell, 'value');
    expect(findDoubt(view, [], ledger.summarize())).toMatch(/twice: B2/);
  });

  it('is about more tables than a sheet holds', () => {
    const { view, ledger } = open();
    for (const cell of [0, 1, 2, 3]) ledger.place(cell, 'value');
    const many = Array.from({ length: 1000 }, () => region('data', 'A1:B2'));
    expect(findDoubt(view, many, ledger.summarize())).toMatch(/1000 separate tables/);
  });
});
