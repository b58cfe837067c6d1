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
    ['bold row names over numbers', '*東|1|2\n*西|3|4\n*南|5|6', false],
    ['labels where values stand on other lines', '*所属|営業課\n山田|*主任\n*氏名|鈴木', false],
    ['more lines than a form has', Array.from({ length: 61 }, (_, n) => `*名${n}|値`).join('\n'), false],
  ])('%s', (_, picture, expected) => {
    const { view, lines } = read(picture);
    expect(isForm(view, lines)).toBe(expected);
  });
});
