import { describe, expect, it } from 'vitest';
import { findChartType, findTitle, findUsedColumns } from '../../core/charts/describeConfig.ts';
import { findReachingOut } from '../../core/charts/findReachingOut.ts';

describe('a picture', () => {
  it.each<[string, string, boolean]>([
    ['a part of the picture', '<path fill="url(#gradient_0)"/>', false],
    ['text that looks like a reference', '<text>url(http://x) href="y"</text>', false],
    ['a description', '<path aria-label="a: url(http://x)"/>', false],
    ['a colour that is loaded', '<path fill="url(http://x/a.svg#b)"/>', true],
    ['a quoted one', '<path fill="url(&quot;http://x&quot;)"/>', true],
    ['a style', '<path style="fill: URL( http://x )"/>', true],
    ['a link', '<a xlink:href="http://x"><path/></a>', true],
    ['an image', '<image width="1"/>', true],
    ['a script', '<svg><script>1</script></svg>', true],
    ['something to run', '<path onclick="x"/>', true],
  ])('%s', (_what, svg, reaches) => {
    expect(findReachingOut(svg) !== null).toBe(reaches);
  });
});

describe('a config', () => {
  it('tells the kind of chart and its title', () => {
    expect([{ mark: 'bar' }, { mark: { type: 'line' } }, { layer: [] }, {}].map(findChartType)).toEqual(['bar', 'line', 'layer', null]);
    expect([{ title: 'a' }, { title: { text: ['a', 'b'] } }, { title: ['a', 'b'] }, { title: 1 }, {}].map(findTitle)).toEqual([
      'a',
      'a b',
      'a b',
      null,
      null,
    ]);
  });

  it('tells which columns it may read', () => {
    const columns = ['月', 'No.', '売上', '担当'].map((name) => ({ name }));
    const config = { transform: [{ calculate: "datum['売上'] * 2", as: 'x' }], encoding: { x: { field: 'No\\.' }, y: { field: '月' } } };
    expect(findUsedColumns(config, columns).map(({ name }) => name)).toEqual(['月', 'No.', '売上']);
  });
});
