import { expect, it } from 'vitest';
import { listWords } from '../../core/sql/listWords.ts';

it.each([
  ['SELECT a.x, count(*) FROM 売上明細 AS a', ['SELECT', 'a', 'x', 'count', 'FROM', '売上明細', 'AS']],
  ['FROM "odd ""name"".csv"', ['FROM', 'odd "name".csv']],
  ["FROM 'it''s one'", ['FROM', "it's one"]],
  ['FROM\u3000店舗\u00a0x', ['FROM', '店舗', 'x']],
  ['FROM a -- "not this\n, b /* nor \' this */, c', ['FROM', 'a', 'b', 'c']],
  ['a1+_b$2-a1', ['a1', '_b$2']],
  ['', []],
])('%s', (sql, words) => {
  expect(listWords(sql, 100)).toEqual(words);
});

it('gives up where there are too many', () => {
  expect(listWords('a b c', 3)).toEqual(['a', 'b', 'c']);
  expect(listWords('a b c d', 3)).toBeNull();
});
