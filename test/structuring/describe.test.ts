import { describe, expect, it } from 'vitest';
import { describeSheets } from '../../core/structuring/describing/describeSheets.ts';
import { SPEC_VERSION } from '../../core/structuring/spec/spec.ts';
import { makeRegion } from './structure.ts';

describe('describeSheets', () => {
  const spec = {
    version: SPEC_VERSION,
    reader: { format: 'xlsx' as const },
    regions: [
      makeRegion({ range: 'A1', kind: 'title' }),
      makeRegion({
        range: 'A3:C9',
        kind: 'report',
        header_rows: [3],
        totals: [
          { at: 5, kind: 'subtotal', formula: null },
          { at: 7, kind: 'computed', formula: null },
          { at: 9, kind: 'total', formula: null },
          { at: 'C', kind: 'total', formula: null },
        ],
      }),
      makeRegion({ range: 'A11', kind: 'note' }),
      makeRegion({ range: 'A13:B14', kind: 'form' }),
      makeRegion({ sheet: 'T', range: 'B2:C3', header_rows: [2] }),
    ],
  };

  it('gives a line for each sheet: its tables with the rows that are sums, and its texts', () => {
    expect(describeSheets('f.xlsx', ['Sheet1', 'T', 'U'], spec)).toEqual([
      {
        file: 'f.xlsx',
        sheet: 'Sheet1',
        tables: [{ range: 'A3:C9', kind: 'report', header_rows: [3], total_rows: [5, 9] }],
        notes: ['A1', 'A11'],
      },
      { file: 'f.xlsx', sheet: 'T', tables: [{ range: 'B2:C3', kind: 'data', header_rows: [2], total_rows: [] }], notes: [] },
      { file: 'f.xlsx', sheet: 'U', tables: [], notes: [] },
    ]);
  });
});
