import { describe, expect, it } from 'vitest';
import {
  isAsOf,
  isComputedLabel,
  isFillIn,
  isFirstPart,
  isNoteStart,
  isNumberedTitle,
  isPlainTitle,
  isProfitLabel,
  isRateName,
  isSubtotalLabel,
  isTotalColumn,
  isTotalLabel,
  isUnitLine,
  isWholeLabel,
} from '../../core/structuring/names/words.ts';

const cases: [name: string, test: (text: string) => boolean, yes: string[], no: string[]][] = [
  [
    'isTotalLabel',
    isTotalLabel,
    ['合計', '合　計', '小 計', '計', '東京支店計 小計', 'Total', 'Grand Total', 'Total assets', 'Sales, total', 'Subtotal 2', '総計 1)'],
    ['会計', '計画', '設計費', 'Totally different', '合計比率', 'Total percent', '平均合計', 'りんご', '合'.repeat(90)],
  ],
  ['isSubtotalLabel', isSubtotalLabel, ['小計', '小　計', 'Subtotal', 'Sub-total'], ['合計', 'Total']],
  [
    'isWholeLabel',
    isWholeLabel,
    ['全国', '全 国', '総数', 'All industries', 'United States', 'The World, total'],
    ['全角', 'Allowance', '北海道', 'United Kingdom'],
  ],
  ['isFirstPart', isFirstPart, ['北海道', 'Alabama', 'New England'], ['沖縄県', 'Wyoming']],
  ['isComputedLabel', isComputedLabel, ['平均', '構成比', '前年増減', 'Average price', 'Growth'], ['売上高', '合計', 'Total']],
  [
    'isProfitLabel',
    isProfitLabel,
    ['売上総利益', '当期純損失', '収支', 'Net income', 'Operating margin'],
    ['売上高', 'Internet', '人件費'],
  ],
  ['isRateName', isRateName, ['達成率', '客単価', '％', 'Unit price', 'share of market'], ['売上', '数量', 'shares']],
  [
    'isTotalColumn',
    isTotalColumn,
    ['年計', '合計', '通期', '前年比', 'YTD', 'Total', '% change'],
    ['4月', '計画', 'Total assets of the group'],
  ],
  [
    'isUnitLine',
    isUnitLine,
    ['(単位：千円)', '単位: 円', '（百万円）', '[%]', 'In thousands of dollars', 'Unit: kg'],
    ['円山', '売上（千円）', ''],
  ],
  [
    'isPlainTitle',
    isPlainTitle,
    ['損益計算書', 'Sales report', '2023年度 予算'],
    ['', '(単位：円)', '2024年4月30日現在', '自 2023年4月1日', 'As of March'],
  ],
  [
    'isAsOf',
    isAsOf,
    ['令和２年12月31日現在', '2024/4/1時点', 'As of March 31, 2024', 'as at 9/14'],
    ['現在', '現在地', 'As of now', 'asset 9'],
  ],
  ['isFillIn', isFillIn, ['…………', '....…', '______ ____', '＿＿＿＿'], ['…', '...', '---', '____ 印', '-', '']],
  [
    'isNumberedTitle',
    isNumberedTitle,
    ['第５３表　薬剤師数', '第1-2表 人口', '表3 輸出', 'Table 8--U.S. exports', 'Table 3. Exports'],
    ['表', '一覧表', '3表', 'Table of contents', 'Tables 3', '第3四半期'],
  ],
  [
    'isNoteStart',
    isNoteStart,
    ['※監査前', '* 速報値', '注) 外国人を含む', '(注) 概数', '出典：総務省', 'Source: OECD', 'Note 1', '1) revised', 'https://example.com'],
    ['りんご', '注文番号', 'Noteworthy', '2023年度'],
  ],
];

describe.each(cases)('%s', (_, test, yes, no) => {
  it.each(yes)('is true of %j', (text) => expect(test(text)).toBe(true));
  it.each(no)('is false of %j', (text) => expect(test(text)).toBe(false));
});
