import { describe, expect, it } from 'vitest';
import { analyze, build } from '../../core/structuring/index.ts';
import { makeGrid } from '../structuring/picture.ts';

function makeList(rows: number): ReturnType<typeof makeGrid> {
  const header = ['番号', '氏名', '部署', '入社日', '等級', '基本給', '手当', '残業', '控除', '支給'];
  const lines = Array.from({ length: rows }, (_, n) => [
    `'A${n}`,
    `氏名${n % 97}`,
    `部${n % 7}`,
    '@2020-04-01',
    ...Array.from({ length: 6 }, (__, k) => String((n * 7 + k) % 1000)),
  ]);
  return makeGrid([['*社員一覧'], header, ...lines]);
}

/** Milliseconds of processor time, the best of some runs: a busy machine must not fail the test. */
function timeOf(grid: ReturnType<typeof makeGrid>): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 4; run += 1) {
    const start = process.cpuUsage();
    build([grid], analyze([grid], 'f.xlsx'), 'f.xlsx');
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

describe('analyze and build: cost', () => {
  it('is linear: ten times the rows take at most twelve times as long', () => {
    const [small, large] = [makeList(1000), makeList(10_000)];
    timeOf(small);
    expect(timeOf(large) / timeOf(small)).toBeLessThan(12);
  });

  it('stays well under a second for a hundred thousand cells', () => {
    expect(timeOf(makeList(10_000))).toBeLessThan(1000);
  });

  it('does not grow with the distance between cells', () => {
    const grid = makeGrid([
      ['品名', '数量'],
      ['りんご', '1'],
      ['みかん', '2'],
    ]);
    grid.rows[4] = 1_048_575;
    grid.rows[5] = 1_048_575;
    expect(timeOf(grid)).toBeLessThan(50);
  });

  it('is bearable for a row as wide as a sheet may be', () => {
    const wide = (value: (n: number) => string) => Array.from({ length: 8000 }, (_, n) => (n % 2 ? '' : value(n)));
    expect(timeOf(makeGrid([wide((n) => `c${n}`), wide(String), wide(String)]))).toBeLessThan(1500);
  });
});
