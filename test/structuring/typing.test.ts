import { describe, expect, it } from 'vitest';
import type { EmitPlan } from '../../core/structuring/building/emitPlan.ts';
import { Ledger } from '../../core/structuring/building/ledger.ts';
import type { Misfit } from '../../core/structuring/building/output.ts';
import { commonType, readType, settleColumn } from '../../core/structuring/building/typing.ts';
import { namingOf } from '../../core/structuring/names/naming.ts';
import type { SpecColumn, SpecPeriod } from '../../core/structuring/spec/spec.ts';
import { drawSheet } from './picture.ts';
import { makeRegion } from './structure.ts';

const column = (type: string, format?: string, from = 'A'): SpecColumn => ({ name: 'x', from, type, ...(format ? { format } : {}) });
const region = (columns: SpecColumn[], periods: SpecPeriod[] = []) => makeRegion({ columns, periods });

/** The cells of a column as a table would hold them, when this type is wanted. */
function settle(cells: string[], wanted: SpecColumn | null, { binding = false, role = 'data' as 'data' | 'computed' } = {}) {
  const view = drawSheet(cells.join('\n'));
  const misfits: Misfit[] = [];
  const plan: EmitPlan = {
    view,
    ledger: new Ledger(view),
    region: region([]),
    leadNames: [],
    columns: [],
    filled: new Map(),
    types: { binding, misfits },
    naming: namingOf(null),
  };
  const positions = Int32Array.from(cells, (_, k) => view.at(k + 1, 1));
  const { type, values } = settleColumn(plan, role, wanted && readType(wanted), positions);
  return { type, values: Array.from({ length: values.length }, (_, n) => values.at(n)), misfits };
}

describe('readType', () => {
  it.each([
    [column('BIGINT'), { name: 'BIGINT' }],
    [column('DATE', 'DD/MM/YYYY'), { name: 'DATE', dayFirst: true }],
    [column('DATE', 'MM/DD/YYYY'), { name: 'DATE', dayFirst: false }],
  ])('of %j is %j', (given, expected) => expect(readType(given)).toMatchObject(expected));

  it('is null for a type that no table has', () => expect(readType(column('NONSENSE'))).toBeNull());
});

describe('settleColumn', () => {
  it.each<[string, string[], string | null, string, unknown[]]>([
    ['whole numbers', ['1', "'1,200"], null, 'BIGINT', [1, 1200]],
    ['decimals', ['1', '2.5'], null, 'DOUBLE', [1, 2.5]],
    ['days', ['@2024-04-01', "'2024/5/1"], null, 'DATE', ['2024-04-01', '2024-05-01']],
    ['marks for nothing among numbers', ['1', 'x', '-'], null, 'BIGINT', [1, null, null]],
    ['mixed kinds', ['1', '赤'], null, 'VARCHAR', ['1', '赤']],
    ['codes', ["'001", "'002"], null, 'VARCHAR', ['001', '002']],
    ['whole numbers in a column of decimals', ['1', '2'], 'DOUBLE', 'DOUBLE', [1, 2]],
    ['texts where numbers are proposed', ['1', '赤'], 'BIGINT', 'VARCHAR', ['1', '赤']],
    ['numbers where text is wanted', ['1', '2'], 'VARCHAR', 'VARCHAR', ['1', '2']],
    ['nothing, wanted as a day', ['', ''], 'DATE', 'DATE', [null, null]],
    ['nothing at all', ['', ''], null, 'DOUBLE', [null, null]],
  ])('%s', (_, cells, wanted, type, values) => {
    expect(settle(cells, wanted === null ? null : column(wanted))).toEqual({ type, values, misfits: [] });
  });

  it('reports the first value that does not fit a type somebody asked for', () => {
    const settled = settle(['1', '赤', '青'], column('BIGINT'), { binding: true });
    expect(settled.misfits).toEqual([{ regionId: 'r1', from: 'A', type: 'BIGINT', cell: 'A2', value: '赤' }]);
  });

  it('reports nothing for the words beside the figures of a total', () => {
    expect(settle(['1', '赤'], column('BIGINT'), { binding: true, role: 'computed' })).toMatchObject({ type: 'VARCHAR', misfits: [] });
  });
});

describe('commonType', () => {
  const period = (from: string, computed = false): SpecPeriod => ({
    from,
    label: from,
    start: null,
    measure: '値',
    ...(computed ? { computed } : {}),
  });
  const rules = (binding: boolean) => ({ binding, misfits: [] });
  const of = (types: string[], binding = true, last = false) =>
    commonType(
      rules(binding),
      region(
        types.map((type, k) => column(type, undefined, 'BCD'[k])),
        types.map((_, k) => period('BCD'[k] ?? '', last && k === types.length - 1)),
      ),
      '値',
    )?.name ?? null;

  it.each([
    ['what all columns say', ['BIGINT', 'BIGINT'], true, false, 'BIGINT'],
    ['nothing where they differ', ['BIGINT', 'DOUBLE'], true, false, null],
    ['what all say but the computed one', ['BIGINT', 'DOUBLE'], true, true, 'BIGINT'],
    ['nothing that was only proposed', ['BIGINT', 'BIGINT'], false, false, null],
    ['a type that analysis never proposes, as somebody asked for it', ['DECIMAL(18,2)', 'DECIMAL(18,2)'], false, false, 'DECIMAL(18,2)'],
  ])('is %s', (_, types, binding, last, expected) => expect(of(types, binding, last)).toBe(expected));
});
