import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRange, MAX_COLUMNS, MAX_ROWS, nameColumn, parseColumn } from '../../core/a1/address.ts';
import { parseBlock, placeValues, type Scalar, trimBlanks } from '../../core/a1/block.ts';

const read = (text: string) => {
  const parsed = parseBlock(text);
  return parsed.ok ? formatRange(parsed.block) : parsed.why;
};

const shape = 'must name a cell or a block of cells, such as B2 or B2:D10';

describe('parseBlock and formatBlock: a block of cells', () => {
  it.each([
    ['B2', 'B2'],
    ['b2:d10', 'B2:D10'],
    ['$B$2:$D$10', 'B2:D10'],
    ['B2:A1', 'A1:B2'],
    ['A2:B1', 'A1:B2'],
    ['C3:C3', 'C3'],
    [' A1 : B2 ', 'A1:B2'],
    ['XFD1048576', 'XFD1048576'],
    ['A01', 'A1'],
    ['A', shape],
    ['1', shape],
    ['', shape],
    ['A:C', shape],
    ['1:2', shape],
    ['A1:', shape],
    ['A1:B2:C3', shape],
    ['A1,B2', shape],
    ['Sheet1!A1', shape],
    ['Ａ１', shape],
    ['A-1', shape],
    ['A1.5', shape],
    ['A0', 'has a row 0; rows count from 1'],
    ['A1:B00', 'has a row 0; rows count from 1'],
    ['ZZZZ1', 'has a column beyond XFD'],
    ['XFE1', 'has a column beyond XFD'],
    [`${'A'.repeat(29)}1`, 'has a column beyond XFD'],
    ['A1048577', 'has a row beyond 1048576'],
    [`A${'9'.repeat(29)}`, 'has a row beyond 1048576'],
  ])('%j is read as %j', (text, wanted) => expect(read(text)).toBe(wanted));

  const corner = fc.record({ row: fc.integer({ min: 1, max: MAX_ROWS }), column: fc.integer({ min: 1, max: MAX_COLUMNS }) });
  const write = ({ row, column }: { row: number; column: number }) => `${nameColumn(column)}${row}`;

  it('is the same whichever corners name it, and reads back as it is written', () => {
    fc.assert(
      fc.property(corner, corner, (a, b) => {
        const blocks = [
          [a, b],
          [b, a],
          [
            { row: a.row, column: b.column },
            { row: b.row, column: a.column },
          ],
        ].map((corners) => parseBlock(corners.map(write).join(':')));
        const [first] = blocks;
        if (!first?.ok) throw new Error('not read');
        for (const block of blocks) expect(block).toEqual(first);
        expect(first.block.top).toBeLessThanOrEqual(first.block.bottom);
        expect(parseBlock(formatRange(first.block))).toEqual(first);
      }),
    );
  });

  it('is refused or read, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'AZaz09:$. ') })), (text) => {
        const parsed = parseBlock(text);
        if (parsed.ok) expect(parsed.block.left >= 1 && parsed.block.right <= MAX_COLUMNS && parsed.block.top >= 1).toBe(true);
        else expect(parsed.why).not.toBe('');
      }),
    );
  });

  it('letters and numbers of columns are one to one', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: MAX_COLUMNS }), (column) => parseColumn(nameColumn(column)) === column));
    expect([1, 26, 27, 702, 703, MAX_COLUMNS].map(nameColumn)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA', 'XFD']);
    expect(parseColumn('XFE')).toBeNaN();
  });
});

describe('placeValues and trimBlanks: values', () => {
  const place = (range: string, values: unknown[][]) => {
    const parsed = parseBlock(range);
    if (!parsed.ok) throw new Error(parsed.why);
    const placed = placeValues(parsed.block, values);
    return placed.ok ? formatRange(placed.block) : placed.why;
  };

  it.each<[string, unknown[][], string]>([
    ['B2', [[1, 2]], 'B2:C2'],
    ['B2:C2', [[1, 2]], 'B2:C2'],
    ['C2:B2', [[1, 2]], 'B2:C2'],
    ['B2', [[1], [2]], 'B2:B3'],
    ['B2:C3', [[1, 2]], 'is 1 × 2 cells, the range 2 × 2'],
    [
      'B2:B3',
      [
        [1, 2],
        [3, 4],
      ],
      'is 2 × 2 cells, the range 2 × 1',
    ],
    ['B2', [[1, 2], [3]], 'is not a block: row 2 has 1 cells, the first has 2'],
    ['B2', [[]], 'has a row without cells'],
    ['XFD1', [[1, 2]], 'goes beyond the last cell of a sheet'],
    ['A1048576', [[1], [2]], 'goes beyond the last cell of a sheet'],
  ])('at %s: %j cover %s', (range, values, wanted) => expect(place(range, values)).toBe(wanted));

  const cell: fc.Arbitrary<Scalar> = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constant(''), fc.integer(), fc.boolean());

  it('lose their trailing blanks and nothing else', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }).chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 6 })),
        (values) => {
          const trimmed = trimBlanks(values);
          const isBlank = (value: Scalar) => value === null || value === '';
          const width = trimmed[0]?.length ?? 0;
          for (const [i, row] of values.entries())
            for (const [j, value] of row.entries()) {
              if (i < trimmed.length && j < width) expect(trimmed[i]?.[j]).toBe(value);
              else expect(isBlank(value)).toBe(true);
            }
          if (trimmed.length > 0) {
            expect(trimmed.at(-1)?.every(isBlank)).toBe(false);
            expect(trimmed.some((row) => !isBlank(row.at(-1) ?? null))).toBe(true);
          }
          expect(trimBlanks(trimmed)).toEqual(trimmed);
        },
      ),
    );
  });
});
