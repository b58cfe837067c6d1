import { describe, expect, it } from 'vitest';
import { checkFormulas } from '../../core/formula/computeFormulas.ts';
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

describe('types', () => {
  it('keep a column of numbers where marks stand for missing ones, and say so', () => {
    const { columns, result } = structure([drawGrid('品目|数量\nりんご|10\nみかん|NaN\nぶどう|#N/A\nもも|…\nなし|12')]);
    expect(columns('file')).toEqual(['品目 VARCHAR', '数量 BIGINT']);
    expect(result.findings).toEqual([expect.objectContaining({ kind: 'missing_mark', cell: 'B3', count: 3, cells: ['B3', 'B4', 'B5'] })]);
  });

  it('keep what is stored where a text makes a column text, and name the cell that did', () => {
    const { rows, result } = structure([drawGrid('年|税率\n甲|0.123456\n乙|0.1\n丙|非課税\n丁|0.2', { formats: { B: '0.0%' } })]);
    expect(rows('file').map((row) => row.税率)).toEqual(['0.123456', '0.1', '非課税', '0.2']);
    expect(result.findings).toEqual([expect.objectContaining({ kind: 'forced_text', cell: 'B4' })]);
  });

  it('keep digits that a format puts before a number', () => {
    const { rows } = structure([drawGrid('コード|名\n12|甲\n345|乙\nA7|丙', { formats: { A: '00000' } })]);
    expect(rows('file').map((row) => row.コード)).toEqual(['00012', '00345', 'A7']);
  });

  it('never make a date of January 1900 from the number of a day', () => {
    const { columns, rows } = structure([drawGrid('名|日|時間\n甲|@1900-01-05|8\n乙|@1900-01-06|7', { formats: { B: 'd' } })]);
    expect([columns('file')[1], rows('file').map((row) => row.日)]).toEqual(['日 BIGINT', [5, 6]]);
  });
});

describe('keys of groups', () => {
  it('stand for the rows below them', () => {
    const { rows } = structure([
      drawGrid('年|税率|額\n2021|0.1|0\n|0.2|10\n|0.3|20\n2020|0.1|0\n|0.2|9\n|0.3|18\n2019|0.1|0\n|0.2|8\n|0.3|16'),
    ]);
    expect(rows('file').map((row) => row.年)).toEqual([2021, 2021, 2021, 2020, 2020, 2020, 2019, 2019, 2019]);
  });

  it('but marks that come again do not', () => {
    const { rows } = structure([drawGrid('済|名|額\n○|甲|1\n|乙|2\n|丙|3\n○|丁|4\n|戊|5\n|己|6\n○|庚|7\n|辛|8')]);
    expect(rows('file').filter((row) => row.済 === null)).toHaveLength(5);
  });
});

describe('a row of figures without a label', () => {
  it('is a total where it is the sum of all above it', () => {
    const { rows } = structure([
      drawGrid('No|名|予算|支払\n1|甲|12252023|1225203\n5|乙|12262873|1226292\n7|丙|25621579|2562162\n||50136475|5013657'),
    ]);
    expect(rows('file_計算項目').map((row) => row.予算)).toEqual([50136475]);
  });

  it('and is data where it is not', () => {
    const { names } = structure([
      drawGrid('No|名|予算|支払\n1|甲|12252023|1225203\n5|乙|12262873|1226292\n7|丙|25621579|2562162\n||136475|13657'),
    ]);
    expect(names).toEqual(['file']);
  });
});

describe('findings: one line for each cause', () => {
  const sheet = (total: string) =>
    structure([drawGrid(`名|A|B|C|D\n甲|100|200|300|400\n乙|10|20|30|40\n丙|5|6|7|8\n合計|${total}`)]).result.findings;

  it('of a total that differs in many cells', () => {
    expect(sheet('125|236|347|458')).toMatchObject([
      { kind: 'total_mismatch', cell: 'B5', stated: 125, computed: 115, count: 4, cells: ['B5', 'C5', 'D5', 'E5'] },
    ]);
    expect(sheet('125|236|337|448')).toMatchObject([
      { cell: 'B5', stated: 125, computed: 115 },
      { cell: 'C5', stated: 236, computed: 226 },
    ]);
  });

  it('of stored results that their formula does not give', () => {
    const { findings } = structure(checkFormulas([drawGrid('名|数|倍\n甲|1|=B2*2~2\n乙|2|=B3*2~5\n丙|3|=B4*2~7')])).result;
    expect(findings).toMatchObject([{ kind: 'stale_result', cell: 'C3', stated: 5, computed: 4, count: 2, cells: ['C3', 'C4'] }]);
    expect(findings[0]?.message).toBe('2 stored results are not what the formula gives: B3*2 is 4, the sheet says 5');
  });
});
