/** Sheets of any content at all, as pictures: rows of drawn cells, and merges over them. */

import fc from 'fast-check';

const cell = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 4, arbitrary: fc.integer({ min: -1000, max: 100_000 }).map(String) },
  { weight: 4, arbitrary: fc.constantFrom('りんご', '東京', 'a', 'Name', '*部門', '*#科目', '>明細', '>>細目', 'note: x', '備考') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '合計',
      '小計',
      'Total',
      '※ 注記',
      '(単位：円)',
      '2023年度',
      '2024年度',
      '4月',
      '5月',
      'Q1',
      '1,234円',
      '△5',
      '-',
      '@2024-04-01',
      '売上総利益',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('=SUM(B1:B3)~6', '=A1-A2~0', "'007", 'x'.repeat(80)) },
);
export const rows = fc.array(fc.array(cell, { maxLength: 7 }), { maxLength: 25 });
export const merges = fc.array(
  fc
    .tuple(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 2 }))
    .map(([top, left, down, across]) => {
      const letter = (n: number) => String.fromCharCode(65 + n);
      return `${letter(left)}${top}:${letter(left + across)}${top + down}`;
    }),
  { maxLength: 3 },
);
