import { describe, expect, it } from 'vitest';
import { drawGrid } from './picture.ts';
import { structure } from './structure.ts';

/** Forms, calendars and models as people lay them out. */

describe('a timesheet', () => {
  const picture = `
    *2024年 | *4月   | *勤務表 | 作成日 | @2024-04-01

    *所属   | 開発部
    *氏名   | 山田太郎

    *#日 | *#稼働 | *#出勤 | *#退勤
    1（月） | 出社 | 10 | 19
    2（火） | 出社 | 9  | 18
    3（水） | 在宅 | 9  | 17

           |        | *稼働日数 | 3
           |        | *稼働時間 | 24
  `;
  const out = structure([drawGrid(picture, { sheet: '四月' })]);

  it('has its days in a table', () => {
    const name = out.names.find((each) => out.columns(each).some((column) => column.startsWith('稼働 '))) ?? '';
    expect(out.rows(name).map((row) => row.日)).toEqual(['1（月）', '2（火）', '3（水）']);
  });

  it('and what stands around them as fields', () => {
    expect(out.rows('四月_項目_補足情報').map(({ 項目, 値, 型 }) => [項目, 値, 型])).toEqual([
      ['所属', '開発部', 'VARCHAR'],
      ['氏名', '山田太郎', 'VARCHAR'],
      ['稼働日数', '3', 'BIGINT'],
      ['稼働時間', '24', 'BIGINT'],
    ]);
  });
});

describe('a form with blank lines to fill in', () => {
  it('keeps the names over its figures, however far away', () => {
    const blank = '\n'.repeat(12);
    const out = structure([drawGrid(`日付|内容|金額|税\n${blank}\n申請|交通費|1200|120\n精算|宿泊費|8000|800`)]);
    expect(out.columns('file')).toEqual(['日付 VARCHAR', '内容 VARCHAR', '金額 BIGINT', '税 BIGINT']);
  });
});

describe('a gantt chart', () => {
  it('keeps a row for each task, and its days as columns', () => {
    const days = Array.from({ length: 30 }, (_, k) => `@2023-06-${String(k + 1).padStart(2, '0')}`).join('|');
    const out = structure([drawGrid(`工程|担当|${days}\n設計|甲|1|1\n実装|乙|||1|1\n試験|丙|||||1`)]);
    expect(out.rows('file').map(({ 工程, 担当 }) => [工程, 担当])).toEqual([
      ['設計', '甲'],
      ['実装', '乙'],
      ['試験', '丙'],
    ]);
  });
});

describe('periods', () => {
  it.each([['Q117|Q217|Q317'], ['1Q23|2Q23|3Q23'], ['FY24A|FY25E|FY26E'], ['Month 1|Month 2|Month 3'], ['4/1～4/7|4/8～4/14|4/15～4/21']])(
    '%s become rows',
    (header) => {
      const { rows } = structure([drawGrid(`科目|${header}\n売上|10|20|30\n費用|5|6|7`)]);
      expect(rows('file').map(({ 期間 }) => 期間)).toEqual([...header.split('|'), ...header.split('|')]);
    },
  );

  it('stay columns where other figures would be repeated with each', () => {
    const { names, rows } = structure([drawGrid('品目|単価|在庫|重さ|2022年|2023年\nりんご|100|5|0.3|10|20\nみかん|50|7|0.1|30|40')]);
    expect(rows(names[0] ?? '')).toHaveLength(2);
  });

  it('are not amounts that look like years', () => {
    const { columns } = structure([drawGrid('部屋|家賃|更新料\nA|2000|2050\nB|2050|2100\nC|1950|2000')]);
    expect(columns('file')).toEqual(['部屋 VARCHAR', '家賃 BIGINT', '更新料 BIGINT']);
  });
});

describe('tables side by side', () => {
  it('are two where each has a title of its own', () => {
    const out = structure([drawGrid('地域|||部門\n区分|件数||区分|平均\n東|3||総務|2\n西|4||開発|5\n計|7||計|7')]);
    expect(out.names.filter((name) => name === '地域' || name === '部門')).toEqual(['地域', '部門']);
  });
});

describe('results of a model', () => {
  it('are computed rows where every figure is a formula', () => {
    const out = structure([
      drawGrid(
        'Item|Year 1|Year 2\nRevenue|1000|1100\nCosts|600|650\nEBITDA|=C2-C3~450|=D2-D3~0\nDepreciation|50|50\nTaxes|=B4*0.2~90|=C4*0.2~0',
      ),
    ]);
    const computed = out.names
      .filter((name) => name.endsWith('_計算項目'))
      .flatMap((name) => out.rows(name).map((row) => Object.values(row)[0]));
    expect(new Set(computed)).toEqual(new Set(['EBITDA']));
  });
});

describe('doubt', () => {
  it('keeps a sheet raw where a line of names stands among the figures', () => {
    const figures = (n: number) => `項目${n}|${n * 11}|${n * 13}|${n * 17}|${n * 19}|${n * 23}`;
    const rows = Array.from({ length: 9 }, (_, n) => figures(n + 1));
    rows.splice(5, 0, '表2|東|西|南|北|中');
    const { result } = structure([drawGrid(`区分|a|b|c|d|e\n${rows.join('\n')}`)]);
    expect(result.rawSheets).toEqual([{ sheet: 'Sheet1', reason: expect.stringContaining('may be a header') }]);
  });
});
