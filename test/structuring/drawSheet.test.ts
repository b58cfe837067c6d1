import { describe, expect, it } from 'vitest';
import { drawSheet, type ShownBlock } from '../../core/structuring/findings/drawSheet.ts';
import { makeRegion } from './structure.ts';

const block: ShownBlock = {
  top: 1,
  left: 1,
  values: [
    ['Sales <2024>', null, null],
    ['Item', 'Price', null],
    ['pen & ink', 12, null],
    ['Total\u0001', 12, null],
  ],
  widths: [10, 10, 0],
  heights: [15, 15, 15, 15],
  merges: [{ top: 1, left: 1, bottom: 1, right: 2 }],
  styles: [
    { align: 'left', bold: false, italic: false },
    { align: 'right', bold: true, italic: false },
  ],
  styleIds: [[0], [0, 0], [0, 1], [0, 1]],
};
const table = makeRegion({ range: 'A2:B4', header_rows: [2], data_range: 'A3:B4', totals: [{ at: 4, kind: 'total', formula: null }] });

describe('drawSheet: a picture of a sheet', () => {
  it('shows cells, headers and computed rows in their places', () => {
    const svg = drawSheet(block, [makeRegion({ kind: 'title', range: 'A1:B1' }), table]);
    expect(svg).toContain('>Sales &lt;2024&gt;</text>');
    expect(svg).toContain('>pen &amp; ink</text>');
    expect(svg).toContain('>Total</text>');
    expect(svg).toContain('<rect x="44" y="62" width="150" height="20" fill="#cfe2ff"/>');
    expect(svg).toContain('<rect x="44" y="102" width="150" height="20" fill="#ffe8b3"/>');
    expect(svg).toContain('<rect x="44" y="42" width="150" height="20" fill="#e9d8fd"/>');
    expect(svg).toMatch(/text-anchor="end" font-weight="bold">12</);
  });

  it('frames what is doubtful in red, with the figure, and nothing else', () => {
    expect(drawSheet(block, [{ ...table, confidence: 0.97 }])).not.toContain(' %</text>');
    const doubtful = drawSheet(block, [{ ...table, confidence: 0.42 }]);
    expect(doubtful).toContain('42 %</text>');
    expect(doubtful.match(/stroke="#c92a2a" stroke-width="2" stroke-dasharray="6 3"/g)).toHaveLength(1);
  });

  it('cuts texts that reach into the next cell, and leaves regions out that are elsewhere', () => {
    const long = { ...block, values: [['a text that is much longer than its cell', 'next']], heights: [15], merges: [] };
    expect(drawSheet(long, [])).toMatch(/>a text that[^<]{0,3}…</);
    expect(drawSheet(block, [makeRegion({ kind: 'note', range: 'A50:B60' })])).toBe(drawSheet(block, []));
  });
});
