import { describe, expect, it } from 'vitest';
import { mayShowTemplate } from '../../core/transforms/mayShowTemplate.ts';

describe('a template is shown to somebody to whom a column is denied', () => {
  const denied = [{ tableId: 't', id: 2, names: new Set(['給与', 'Pay "net"']) }];
  const uses = (...ids: number[]) => new Map([['t', { rows: 'all' as const, columns: Object.fromEntries(ids.map((id) => [id, [1]])) }]]);
  it.each<[what: string, template: string, flows: Parameters<typeof mayShowTemplate>[2], shown: boolean]>([
    ['that neither uses nor names it', 'SELECT 店 FROM {{ d }}', uses(1), true],
    ['that names it', 'SELECT 店 FROM {{ d }} WHERE 給与 > 1', uses(1), false],
    ['that has its name in a comment', 'SELECT 店 FROM {{ d }} -- 給与', uses(1), false],
    ['that names it in another case, quoted', 'SELECT "PAY ""NET""" FROM {{ d }}', uses(1), false],
    ['that uses it without naming it', 'SELECT * FROM {{ d }}', uses(1, 2), false],
    ['whose use is not known', 'SELECT 店 FROM {{ d }}', new Map([['t', null]]), false],
    ['that was not run', 'SELECT 店 FROM {{ d }}', null, false],
  ])('%s', (_, template, flows, shown) => {
    expect(mayShowTemplate({ language: 'sql', template }, denied, flows)).toBe(shown);
  });

  it('never in Python, and always where nothing is denied', () => {
    const python = { language: 'python' as const, template: 'def transform(d): return d' };
    expect(mayShowTemplate(python, denied, new Map())).toBe(false);
    expect(mayShowTemplate(python, [], null)).toBe(true);
  });
});
