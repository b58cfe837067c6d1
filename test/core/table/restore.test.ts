import { describe, expect, it } from 'vitest';
import {
  fingerprintTable,
  type HeldTable,
  haveSameFingerprints,
  mayDiffer,
  planPlace,
  planRestoredLayers,
} from '../../../core/table/restore.ts';
import type { Layer, TableRecord } from '../../../core/table/table.ts';
import { makeAt, makeColumn } from './makeTable.ts';

const { table } = makeAt();
const held: HeldTable = { tableId: 'tbl_1', editVersion: 1, versionUid: 'ver_1', name: 'orders', state: 'active', description: null };
const deleted = { deletedAt: new Date(1) };
const there = { name: 'orders', state: 'active', description: null };

describe('where a table goes', () => {
  it.each([
    ['nowhere, when it stands there', {}, held, null],
    ['to its old name', { name: 'renamed' }, held, there],
    ['out of the archive', { state: 'archived' }, held, there],
    ['to its old description', { description: 'new' }, held, there],
    ['back, when it was deleted', deleted, held, there],
    ['into the archive, when it was made later', {}, null, { ...there, state: 'archived' }],
    ['nowhere, when it was made later and is archived', { state: 'archived' }, null, null],
  ] as [string, Partial<TableRecord>, HeldTable | null, unknown][])('%s', (_, given, snapshot, expected) => {
    expect(planPlace({ ...table, ...given }, snapshot)).toEqual(expected);
  });
});

describe('what a table holds', () => {
  it.each([
    ['is the same at the same version', {}, false],
    ['may differ at another', { versionUid: 'ver_2' }, true],
    ['may differ when it was deleted', deleted, true],
    ['may differ where it is derived', { versionUid: 'ver_2', layer: 'derived' }, true],
    ['is not brought back where it is a view', { versionUid: 'ver_2', layer: 'view' }, false],
  ] as [string, Partial<TableRecord>, boolean][])('%s', (_, given, expected) => {
    expect(mayDiffer({ ...table, ...given }, held)).toBe(expected);
  });

  const log = (after: number, upTo: number | null): Layer => ({ kind: 'log', after, upTo });
  const columns = [makeColumn(1)];
  const old = makeAt({ editVersion: 3, layers: [log(1, null)], columns });
  it.each([
    ['the old layers, closed', makeAt({ editVersion: 9, layers: [log(1, null)], columns }), true],
    ['nothing after a restore of the same', makeAt({ editVersion: 9, layers: [log(1, 3), log(9, null)], columns }), false],
    ['all again after an edit of what was restored', makeAt({ editVersion: 9, layers: [log(1, 3), log(8, null)], columns }), true],
    ['all again under other columns', makeAt({ editVersion: 9, layers: [log(1, 3)], columns: [makeColumn(1, 'renamed')] }), true],
    ['all again after it was deleted', makeAt({ editVersion: 9, layers: [log(1, 3)], columns, table: deleted }), true],
  ])('is brought back as %s', (_, current, differs) => {
    expect(planRestoredLayers(current, old)).toEqual(differs ? [log(1, 3)] : null);
  });
});

it('a plan holds while the same tables stand where they stood, in any order', () => {
  const marks = [fingerprintTable(table), fingerprintTable({ ...table, id: 'tbl_2', name: 'a', ...deleted })];
  expect(haveSameFingerprints(marks, [...marks].reverse())).toBe(true);
  expect(haveSameFingerprints(marks, marks.slice(1))).toBe(false);
  for (const change of [{ editVersion: 2 }, { name: 'b' }, { state: 'archived' as const }, { deleted: true }])
    expect(
      haveSameFingerprints(
        marks,
        marks.map((mark) => (mark.id === 'tbl_1' ? { ...mark, ...change } : mark)),
      ),
    ).toBe(false);
});
