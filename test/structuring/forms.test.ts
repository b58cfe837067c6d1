import { describe, expect, it } from 'vitest';
import { isForm, readPairs } from '../../core/structuring/regions/forms.ts';
import { readLines } from '../../core/structuring/sheet/lines.ts';
import { drawSheet, usedRange } from './picture.ts';

function read(picture: string) {
  const view = drawSheet(picture);
  return { view, lines: readLines(view, usedRange(view)) };
}

describe('readPairs', () => {
  it.each([
    ['*氏名|山田|*役職|主任', ['氏名=山田', '役職=主任']],
    ['氏名:|山田|太郎', ['氏名:=山田,太郎']],
    ['#氏名||#役職|主任', ['氏名=', '役職=主任']],
    ['署名|…………|日付|______', ['署名=…………', '日付=______']],
    ['山田|*役職|主任', null],
    ['5|*役職', null],
  ])('of %s is %j', (picture, expected) => {
    const { view, lines } = read(picture);
    const [line] = lines;
    const pairs = line && readPairs(view, line);
    expect(pairs?.map(({ label, values }) => `${view.label(label)}=${values.map((i) => view.label(i))}`) ?? null).toEqual(expected);
  });
});

describe('isForm', () => {
  it.each([
    ['labels that keep to their columns', '*所属|営業課|*番号|A12\n*氏名|山田|*役職|主任', true],
    ['labels with colons', '件名:|見積\n日付:|@2024-04-01\n担当:|山田', true],
    ['one line', '*所属|営業課', false],
    ['a header of labels only', '*所属|*氏名\n*営業|山田\n*開発|鈴木', false],
    ['a header below a few pairs', '*一覧|||可\n*東|||否\n*氏名|*役職|*期間|#権限\n*山田|主任|24|可\n*鈴木|課長|12|可', false],
    ['boxes for seals below the pairs', `${'*件名|見積\n'.repeat(8)}*承認||*確認||*作成\n佐藤||鈴木||田中`, true],
    ['an address that goes on below its name', '*宛先|東京都\n|千代田区\n|一番町\n*件名|見積\n*担当|山田', true],
    ['prose beside its headings', '*注意|初めに|先に\n|次に|又\n|その後|更に\n*終了|最後に|末に\n|必ず|常に\n|閉じる|止める', false],
    ['bold row names over numbers', '*東|1|2\n*西|3|4\n*南|5|6', false],
    ['labels where values stand on other lines', '*所属|営業課\n山田|*主任\n*氏名|鈴木', false],
    ['more lines than a form has', Array.from({ length: 61 }, (_, n) => `*名${n}|値`).join('\n'), false],
  ])('%s', (_, picture, expected) => {
    const { view, lines } = read(picture);
    expect(isForm(view, lines)).toBe(expected);
  });
});
