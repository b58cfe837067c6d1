import { describe, expect, it } from 'vitest';
import { analyze, build, buildSelected, chooseLanguage, fromContract, listTexts, toContract } from '../../core/structuring/index.ts';
import { drawGrid } from './picture.ts';
import { rowsOf } from './structure.ts';

const statement = [
  'Income statement',
  '(in thousands)',
  'Item|2022|2023',
  'Sales|150|180',
  '>Products|100|120',
  '>Services|50|60',
  'Cost|90|100',
  'Gross profit|60|80',
  'Note: unaudited',
].join('\n');

const grid = drawGrid(statement);

describe('names in English', () => {
  const spec = analyze([grid], 'report.xlsx', 'en');
  const tables = build([grid], spec, 'report.xlsx').tables;

  it('are given to every table and column that structuring makes up', () => {
    expect(tables.map(({ name }) => name)).toEqual([
      'Income statement_level1',
      'Income statement_level1_computed',
      'Income statement_level2',
      'Income statement_accounts',
      `${grid.sheet}_notes`,
    ]);
    expect(tables.map(({ columns }) => columns.map(({ name }) => name))).toEqual([
      ['account', 'period', 'period_start', 'value'],
      ['account', 'period', 'period_start', 'value'],
      ['account_level1', 'account', 'period', 'period_start', 'value'],
      ['account_id', 'account', 'parent_id', 'level', 'position', 'kind', 'formula'],
      ['position', 'kind', 'content', 'cell', 'table'],
    ]);
    const texts = JSON.stringify(tables.map((table) => [table.name, table.columns, rowsOf(table)]));
    expect(texts).not.toMatch(/[ぁ-んァ-ヶ一-龠]/);
  });

  it('are the same structure as in Japanese', () => {
    const japanese = build([grid], analyze([grid], 'report.xlsx'), 'report.xlsx').tables;
    expect(tables.map(({ role, rowCount }) => [role, rowCount])).toEqual(japanese.map(({ role, rowCount }) => [role, rowCount]));
    expect(japanese.map(({ name }) => name)).toContain('Income statement_階層1_計算項目');
  });

  it('survive the form of the contract, with the language beside it', () => {
    const back = fromContract(toContract(spec), spec.naming);
    const ids = spec.regions.map(({ id }) => id);
    expect(buildSelected([grid], back, ids).tables).toEqual(buildSelected([grid], spec, ids).tables);
    expect(
      toContract(spec)
        .regions.flatMap(({ periods }) => periods ?? [])
        .map(({ measure }) => measure),
    ).toEqual([null, null]);
  });
});

describe('chooseLanguage', () => {
  const japanese = drawGrid('品目|数量\nりんご|3');
  it.each([
    ['ja', grid, 'report.xlsx', 'ja'],
    ['en', japanese, '在庫.xlsx', 'en'],
    ['auto', { ...grid, sheet: 'Sheet1' }, 'report.xlsx', 'en'],
    ['auto', { ...japanese, sheet: 'Sheet1' }, 'report.xlsx', 'ja'],
    ['auto', { ...grid, sheet: '損益' }, 'report.xlsx', 'ja'],
    ['auto', { ...grid, sheet: 'Sheet1' }, '損益.xlsx', 'ja'],
  ] as const)('%s', (choice, sheet, fileName, expected) =>
    expect(chooseLanguage(choice, [fileName], ...listTexts([sheet]))).toBe(expected),
  );
});
