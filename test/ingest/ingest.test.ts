import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bare, type IngestWorld, makeIncomeStatement, makeXlsx, openWorld } from './world.ts';

let world: IngestWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.stop());

describe('a statement', () => {
  it('becomes the tables that the structuring page promises', async () => {
    const answer = await world.upload('損益.xlsx', await makeIncomeStatement());
    expect(answer.structuring).toBe('structured');
    expect(answer.credits_charged).toBe(1);
    expect(answer.artifacts.map((table) => table.name)).toEqual([
      '損益計算書_階層1',
      '損益計算書_階層1_計算項目',
      '損益計算書_階層2',
      '損益計算書_科目',
      'PL_補足情報',
    ]);
  });
});

describe('a plain table', () => {
  it('takes the name of its file', async () => {
    const answer = await world.upload('在庫.xlsx', await makeXlsx({ Sheet1: bare(5) }));
    expect(answer.artifacts.map((table) => table.name)).toEqual(['在庫']);
    expect(await world.readRows('在庫')).toHaveLength(5);
  });
});
