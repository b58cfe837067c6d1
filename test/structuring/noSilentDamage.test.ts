import { describe, expect, it } from 'vitest';
import { isComputedLabel } from '../../core/structuring/names/words.ts';
import { drawGrid } from './picture.ts';
import { structure } from './structure.ts';

/** Tables and rows that must not lose or move what people wrote, on small sheets as they are really made. */

const computedOf = (picture: string) => {
  const { names, rows } = structure([drawGrid(picture)]);
  return names.filter((name) => name.endsWith('_計算項目')).flatMap((name) => rows(name).map((row) => Object.values(row)[0]));
};

describe('isComputedLabel', () => {
  it.each([
    ['Operations', false],
    ['Corporation tax', false],
    ['Administration', false],
    ['Exchange', false],
    ['率先垂範', false],
    ['日比谷', false],
    ['Ratio of debt', true],
    ['% change', true],
    ['増減率（％）', true],
    ['前年比', true],
    ['平均', true],
  ])('%s: %s', (label, computed) => expect(isComputedLabel(label)).toBe(computed));
});

describe('rows that are computed', () => {
  it('small counts that happen to be differences of their neighbours stay details', () => {
    const picture =
      '区|甲|乙|丙\n東町|8|3|4\n西町|5|1|3\n南町|3|2|1\n北町|2|0|2\n中町|1|2|0\n上町|4|1|2\n下町|9|5|4\n浜町|13|6|6\n合計|45|20|22';
    expect(computedOf(picture)).toEqual(['合計']);
  });

  it('a result without a formula is one where its amounts leave no room for chance', () => {
    const picture = '項目|前期|当期\n収入|812,345|921,887\n支出|700,112|811,954\n**|112,233|109,933'.replace('**', '*収支');
    expect(computedOf(picture)).toEqual(['収支']);
  });

  it('never under labels that repeat', () => {
    const picture =
      '品目|数量|金額\n>りんご|812345|9218871\n>みかん|700112|8119541\n>りんご|112233|1099330\n>みかん|312233|2099330\n合計|1936923|20537072';
    expect(computedOf(picture)).toEqual(['合計']);
  });

  it('subtotals among ages and codes are totals too', () => {
    const picture =
      '年齢|有権者|投票者\n20|2681|870\n21|2687|824\n22|2582|723\n小計|7950|2417\n23|2466|765\n24|2560|815\n25|2516|867\n小計|7542|2447\n合計|15492|4864';
    expect(computedOf(picture)).toEqual(['小計', '小計', '合計']);
  });
});

describe('headers', () => {
  it('reach their columns, though the last name ends with a colon', () => {
    const grid = drawGrid('|Joint||Single||Notes:\nYear|Rates|Brackets|Rates|Brackets\n2021|0.1|0|0.1|0|new law\n2020|0.12|9950|0.12|100', {
      merges: ['B1:C1', 'D1:E1'],
    });
    expect(structure([grid]).columns('file')).toEqual([
      'Year BIGINT',
      'Joint_Rates DOUBLE',
      'Joint_Brackets BIGINT',
      'Single_Rates DOUBLE',
      'Single_Brackets BIGINT',
      'Notes: VARCHAR',
    ]);
  });

  it('begin below a title and a unit that are written again for each page', () => {
    const grid = drawGrid(
      '||得票数一覧|||得票数一覧\n\n|||[単位：票]|||[単位：票]\n番号|1|2|3|4|5\n区名|甲野|乙川|丙山|丁田|戊谷\n東|10.5|20|30|40|50\n西|11|21.5|31|41|51\n南|12|22|32.5|42|52',
    );
    const { names, columns } = structure([grid]);
    expect(names).toHaveLength(2);
    expect(columns(names[0] ?? '')).toEqual([
      '番号_区名 VARCHAR',
      '1_甲野 DOUBLE',
      '2_乙川 DOUBLE',
      '3_丙山 DOUBLE',
      '4_丁田 BIGINT',
      '5_戊谷 BIGINT',
    ]);
  });

  it('hold the numbers of the columns, however few, above their names', () => {
    const grid = drawGrid('番号|1|2\n区名|甲野|乙川\n東|10.5|20\n西|11|21.5\n南|12|22');
    expect(structure([grid]).columns('file')).toEqual(['番号_区名 VARCHAR', '1_甲野 DOUBLE', '2_乙川 DOUBLE']);
  });
});
