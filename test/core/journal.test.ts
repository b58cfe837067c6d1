import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { EventData, EventKind, EventType } from '../../core/journal/events.ts';
import { loggedKinds, opKinds, undoableKinds } from '../../core/journal/opKinds.ts';
import { snapshotRestored } from '../../core/journal/snapshotNotes.ts';
import { tableEdited } from '../../core/journal/tableNotes.ts';
import type { components } from '../../schema/contract.ts';

const schema = (name: string) => {
  const text = readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8');
  const [, part = ''] = text.split(`\n    ${name}:\n`);
  return part.split(/\n {4}\w/, 1)[0] ?? '';
};

describe('the kinds of the journal', () => {
  it('events have the types of the contract, no more and no fewer', () => {
    expectTypeOf<EventType>().toEqualTypeOf<components['schemas']['ServiceEvent']['type']>();
    expectTypeOf<Exclude<EventType, 'webhook.test'>>().toEqualTypeOf<components['schemas']['EventKind']>();
    expectTypeOf<EventKind>().toEqualTypeOf<components['schemas']['EventKind']>();
  });

  it('events that are emitted have the data of the contract', () => {
    type Data = { [Event in components['schemas']['ServiceEvent'] as Event['type']]: Event['data'] };
    expectTypeOf<EventData>().toExtend<Data>();
  });

  it('ops have every kind that the contract names', () => {
    const named = [...schema('Op').matchAll(/`([a-z]+\.[a-z]+)`/g)].map(([, kind]) => kind);
    expect(named).toContain('rows.undo');
    expect(named.filter((kind) => !Object.hasOwn(opKinds, kind as string))).toEqual([]);
  });

  it('what can be undone has its rows in the log', () => {
    expect(undoableKinds).toEqual(['rows.upsert', 'rows.delete']);
    expect(undoableKinds.filter((kind) => !loggedKinds.includes(kind))).toEqual([]);
  });
});

describe('notes', () => {
  const table = { id: 'tbl_1', name: '売上' };

  it('of an edit: an op, an audit entry, an event and one op of usage', () => {
    const notes = tableEdited(table, 8, { kind: 'column.add', inserted: 0, updated: 0, deleted: 0, detail: { column: '税率' } });
    expect(notes).toEqual({
      ops: [{ kind: 'column.add', tableId: 'tbl_1', tableName: '売上', editVersion: 8, codeRef: 'tbl_1@8' }],
      audit: [{ action: 'column.add', target: '売上', detail: { edit_version: 8, inserted: 0, updated: 0, deleted: 0, column: '税率' } }],
      events: [{ type: 'artifact.updated', data: { artifact_id: 'tbl_1', name: '売上', kind: 'table', edit_version: 8 } }],
      usage: [{ kind: 'op', amount: 1 }],
    });
  });

  it('of a restore: an op for the workbook and one for each new version, an event for each table', () => {
    const notes = snapshotRestored('snp_1', '締め', [
      { ...table, editVersion: 9, isNewVersion: true, madeLater: false },
      { id: 'tbl_2', name: '控え', editVersion: 3, isNewVersion: false, state: 'archived', madeLater: true },
    ]);
    expect(notes.ops).toEqual([
      { kind: 'version.revert', codeRef: 'snp_1' },
      { kind: 'version.revert', tableId: 'tbl_1', tableName: '売上', editVersion: 9, codeRef: 'snp_1' },
    ]);
    expect(notes.audit).toEqual([
      {
        action: 'version.revert',
        target: '締め',
        detail: { snapshot_id: 'snp_1', restored: [{ name: '売上', edit_version: 9 }], archived: ['控え'] },
      },
    ]);
    expect(notes.events?.map((event) => event.data)).toEqual([
      { artifact_id: 'tbl_1', kind: 'table', name: '売上', edit_version: 9 },
      { artifact_id: 'tbl_2', kind: 'table', name: '控え', edit_version: 3, state: 'archived' },
    ]);
  });
});
