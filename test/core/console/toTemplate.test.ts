import { describe, expect, it } from 'vitest';
import { toTemplate } from '../../../console/pages/ask/toTemplate.ts';

const tables = ['売上', '店', 'Sales 2024', 'a"b'];

describe('toTemplate', () => {
  it.each([
    ['SELECT * FROM 売上', 'SELECT * FROM {{ t1 }}', { t1: '売上' }],
    ['select 1 from "Sales 2024" s', 'select 1 from {{ t1 }} s', { t1: 'Sales 2024' }],
    ['SELECT * FROM "a""b"', 'SELECT * FROM {{ t1 }}', { t1: 'a"b' }],
    [
      'SELECT 店 FROM 売上 JOIN 店 ON 売上.店 = 店.店',
      'SELECT 店 FROM {{ t1 }} JOIN {{ t2 }} ON 売上.店 = 店.店',
      { t1: '売上', t2: '店' },
    ],
    ['SELECT 1 FROM 売上, 店 WHERE a IN (1, 店)', 'SELECT 1 FROM {{ t1 }}, {{ t2 }} WHERE a IN (1, 店)', { t1: '売上', t2: '店' }],
    ['SELECT 店, 売上 FROM 売上', 'SELECT 店, 売上 FROM {{ t1 }}', { t1: '売上' }],
    ["SELECT 'FROM 売上' FROM 店 -- FROM 売上", "SELECT 'FROM 売上' FROM {{ t1 }} -- FROM 売上", { t1: '店' }],
    ['SELECT * FROM (SELECT * FROM 売上) x', 'SELECT * FROM (SELECT * FROM {{ t1 }}) x', { t1: '売上' }],
    ['WITH c AS (SELECT 1 FROM 店) SELECT * FROM c', 'WITH c AS (SELECT 1 FROM {{ t1 }}) SELECT * FROM c', { t1: '店' }],
    ['SELECT a FROM 売上 UNION SELECT a FROM 売上', 'SELECT a FROM {{ t1 }} UNION SELECT a FROM {{ t1 }}', { t1: '売上' }],
    ['SELECT a FROM 売上 GROUP BY a, 店', 'SELECT a FROM {{ t1 }} GROUP BY a, 店', { t1: '売上' }],
    ['SELECT 1', 'SELECT 1', {}],
  ])('%s', (sql, template, args) => {
    expect(toTemplate(sql, tables)).toEqual({ template, args });
  });
});
