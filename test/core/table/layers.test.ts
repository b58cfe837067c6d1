import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeLog, type FoundRow, listLogRanges, mayHold, settleLayers, settleRows } from '../../../core/table/layers.ts';
import type { LayeredEntry } from '../../../core/table/log.ts';
import type { Cells, Layer } from '../../../core/table/table.ts';
import { anyCell, makeAt } from './makeTable.ts';

const segment = (minRow: number, maxRow: number, key = 's'): Layer => ({ kind: 'segment', key, rows: 1, minRow, maxRow, bytes: 1 });
const delta = (key = 'd'): Layer => ({ kind: 'delta', key, rows: 1, after: 1, upTo: 2, bytes: 1 });
const log = (after: number, upTo: number | null): Layer => ({ kind: 'log', after, upTo });

describe('which layers may hold rows', () => {
  it.each([
    ['a segment that has the id', segment(10, 20), { ids: [1, 20] }, true],
    ['a segment with ids around it', segment(10, 20), { ids: [9, 21] }, false],
    ['a segment and no ids', segment(10, 20), { ids: [] }, false],
    ['a segment at the end of a range', segment(10, 20), { min: 1, max: 10 }, true],
    ['a segment within a range', segment(10, 20), { min: 1, max: 100 }, true],
    ['a segment before a range', segment(10, 20), { min: 21, max: 30 }, false],
    ['a delta, which does not tell', delta(), { ids: [1] }, true],
    ['a log, which does not tell', log(1, null), { min: 5, max: 5 }, true],
  ])('%s', (_, layer, wanted, expected) => {
    expect(mayHold(layer, wanted)).toBe(expected);
  });
});

describe('the log of a version', () => {
  it.each([
    ['the open one ends at the version', [log(1, null)], 5, [log(1, 5)]],
    ['an open one without entries goes', [log(5, null)], 5, []],
    ['one that was closed before stays', [log(1, 3), segment(1, 2), log(4, null)], 6, [log(1, 3), segment(1, 2), log(4, 6)]],
    ['one that was closed later ends at the version', [log(1, 9)], 4, [log(1, 4)]],
    ['one that began later goes', [delta(), log(7, 9)], 4, [delta()]],
  ])('%s', (_, layers, editVersion, expected) => {
    const at = makeAt({ layers, editVersion });
    expect(closeLog(at)).toEqual(expected);
    expect(listLogRanges(at).map(({ layer, after, upTo }) => [layers[layer]?.kind, after, upTo])).toEqual(
      expected.flatMap((layer) => (layer.kind === 'log' ? [['log', layer.after, layer.upTo]] : [])),
    );
  });

  it('is closed once and for all', () => {
    const version = fc.integer({ min: 1, max: 9 });
    const anyLog = fc.tuple(version, fc.option(version, { nil: null })).map(([after, upTo]) => log(after, upTo));
    fc.assert(
      fc.property(fc.array(fc.oneof(anyLog, fc.constant(delta()))), version, (layers, editVersion) => {
        const closed = closeLog(makeAt({ layers, editVersion }));
        expect(closeLog(makeAt({ layers: closed, editVersion }))).toEqual(closed);
        expect(closeLog(makeAt({ layers: closed, editVersion: editVersion + 1 }))).toEqual(closed);
      }),
    );
  });
});

/** A layer with what it says: cells, or null for a row that it removes. */
interface Filled {
  layer: Layer;
  rows: Map<number, Cells | null>;
}

const anyRows = fc
  .dictionary(fc.constantFrom('1', '2', '3', '4', '5'), fc.option(fc.record({ '1': anyCell, '2': anyCell }), { nil: null }))
  .map((rows) => new Map(Object.entries(rows).map(([id, cells]) => [Number(id), cells])));

const anyLayers: fc.Arbitrary<Filled[]> = fc
  .array(fc.tuple(fc.constantFrom('segment', 'delta', 'log'), anyRows), { maxLength: 6 })
  .map((parts) =>
    parts.map(([kind, rows], i) => ({
      layer: kind === 'log' ? log(i, i + 1) : kind === 'delta' ? delta(`${i}`) : segment(1, 5, `${i}`),
      rows,
    })),
  );

/** The other way round: one layer after the other is put over those before it. */
function overlay(parts: Filled[]): Map<number, Cells | null> {
  const rows = new Map<number, Cells | null>();
  for (const part of parts) for (const [id, cells] of part.rows) rows.set(id, cells);
  return rows;
}

const byId = (rows: Iterable<[number, unknown]>) => [...rows].sort(([a], [b]) => a - b);

describe('the later layer wins', () => {
  it('as if each layer were put over those before it', async () => {
    await fc.assert(
      fc.asyncProperty(anyLayers, async (parts) => {
        const layers = parts.map(({ layer }) => layer);
        const entries = parts.flatMap(({ layer, rows }, index): LayeredEntry[] =>
          layer.kind === 'log'
            ? [...rows].map(([rowId, cells]) => ({
                layer: index,
                editVersion: index,
                rowId,
                op: cells ? 'U' : 'D',
                changed: [],
                cells,
                before: null,
              }))
            : [],
        );
        const asFound = (cells: Cells | null): FoundRow => (cells ? { removed: false, cells } : { removed: true });
        const settled = await settleRows(layers, entries, (layer) => {
          const part = parts.find((each) => each.layer === layer);
          return new Map([...(part?.rows ?? [])].map(([id, cells]) => [id, asFound(cells)]));
        });
        expect(byId(settled ?? [])).toEqual(byId(overlay(parts)));
      }),
    );
  });

  it('a layer may leave out what is settled', async () => {
    await fc.assert(
      fc.asyncProperty(anyLayers, async (parts) => {
        const layers = parts.map(({ layer }) => layer);
        const settled = await settleLayers<Cells | null>(layers, (_, index, known) =>
          [...(parts[index]?.rows ?? [])].filter(([id]) => !known.has(id)),
        );
        expect(byId(settled ?? [])).toEqual(byId(overlay(parts)));
      }),
    );
  });

  it('gives up when a layer cannot be read, and asks no other', async () => {
    const asked: number[] = [];
    const settled = await settleLayers([delta('0'), delta('1'), delta('2')], (_, index) => {
      asked.push(index);
      return index === 1 ? null : [[index, 'said']];
    });
    expect(settled).toBeNull();
    expect(asked).toEqual([2, 1]);
  });
});
