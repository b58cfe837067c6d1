import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containsReach, formatReach, parseReach, type Reach, reachesWorkbook, reachesWorkspace } from '../../core/access/reach.ts';
import { atLeast, type BaseRole, baseRoles, effectiveRoles, reservedRoles } from '../../core/access/roles.ts';
import { expandScopes, missingScopes, type Scope, scopes } from '../../core/access/scopes.ts';

const anyScopes = fc.subarray([...scopes]);
const ids = fc.constantFrom('a', 'b', 'c');
const anyReach: fc.Arbitrary<Reach> = fc.oneof(
  fc.constant<Reach>({ kind: 'account' }),
  ids.map((id): Reach => ({ kind: 'workspace', id })),
  ids.map((id): Reach => ({ kind: 'workbook', id })),
);
/** Where each workbook lies. */
const anyHomes = fc.record({ a: ids, b: ids, c: ids });

describe('expandScopes and missingScopes: scopes', () => {
  it.each<[Scope[], Scope[], Scope[]]>([
    [[], [], []],
    [[], ['workbooks:read'], ['workbooks:read']],
    [['workbooks:read'], ['workbooks:read'], []],
    [['workbooks:write'], ['workbooks:read'], []],
    [['workbooks:write'], ['workbooks:read', 'workbooks:write'], []],
    [['workbooks:read'], ['workbooks:write'], ['workbooks:write']],
    [['workbooks:delete'], ['workbooks:read'], ['workbooks:read']],
    [['workbooks:delete'], ['workbooks:write'], ['workbooks:write']],
    [['workbooks:write'], ['workbooks:delete'], ['workbooks:delete']],
    [['workspaces:configure'], ['workspaces:read'], ['workspaces:read']],
    [['keys:mint', 'keys:revoke'], ['keys:read'], ['keys:read']],
    [['workbooks:write'], ['cloud-files:read'], ['cloud-files:read']],
    [['workbooks:write'], ['workbooks:write', 'cloud-files:read'], ['cloud-files:read']],
  ])('%j, asked for %j, lack %j', (held, needed, missing) => {
    expect(missingScopes(held, needed)).toEqual(missing);
  });

  it('imply nothing but reading by writing', () => {
    fc.assert(
      fc.property(anyScopes, (held) => {
        const added = [...expandScopes(held)].filter((scope) => !held.includes(scope));
        expect(added).toEqual(held.includes('workbooks:write') && !held.includes('workbooks:read') ? ['workbooks:read'] : []);
      }),
    );
  });

  it('never lack less when fewer are held, nor when more are asked for', () => {
    fc.assert(
      fc.property(anyScopes, anyScopes, anyScopes, (held, more, needed) => {
        const lacking = missingScopes(held, needed);
        expect(lacking).toEqual(expect.arrayContaining(missingScopes([...held, ...more], needed)));
        expect(missingScopes(held, [...needed, ...more])).toEqual(expect.arrayContaining(lacking));
      }),
    );
  });

  it('can be minted from themselves: what one holds lacks nothing of what it gives', () => {
    fc.assert(
      fc.property(anyScopes, (held) => {
        expect(missingScopes(held, [...expandScopes(held)])).toEqual([]);
      }),
    );
  });
});

describe('parseReach, containsReach and reachesWorkbook: reach', () => {
  it.each([
    ['account', { kind: 'account' }],
    ['workspace:ws_1', { kind: 'workspace', id: 'ws_1' }],
    ['workbook:wb_1', { kind: 'workbook', id: 'wb_1' }],
    ['workspace:', null],
    ['workbook', null],
    ['', null],
    ['Account', null],
    ['table:x', null],
    [' account', null],
  ])('of %j is %j', (text, reach) => {
    expect(parseReach(text)).toEqual(reach);
  });

  it('is written as it is read', () => {
    fc.assert(
      fc.property(anyReach, (reach) => {
        expect(parseReach(formatReach(reach))).toEqual(reach);
      }),
    );
  });

  it('of an account covers all, of a workspace its workbooks, of a workbook itself', () => {
    fc.assert(
      fc.property(anyReach, anyHomes, ids, (reach, homes, id) => {
        const workbook = { id, workspaceId: homes[id as 'a'] };
        const expected = reach.kind === 'account' || (reach.kind === 'workspace' ? reach.id === workbook.workspaceId : reach.id === id);
        expect(reachesWorkbook(reach, workbook)).toBe(expected);
        expect(reachesWorkspace(reach, id)).toBe(reach.kind === 'account' || (reach.kind === 'workspace' && reach.id === id));
      }),
    );
  });

  it('contains another exactly when it covers everything that the other covers', () => {
    fc.assert(
      fc.property(anyReach, anyReach, anyHomes, (outer, inner, homes) => {
        const home = inner.kind === 'workbook' ? homes[inner.id as 'a'] : inner.kind === 'workspace' ? inner.id : null;
        const things = (['a', 'b', 'c'] as const).map((id) => ({ id, workspaceId: homes[id] }));
        const spaces = ['a', 'b', 'c'];
        // A workspace is more than the workbooks that happen to be in it: new ones will land there.
        const covers =
          things.every((thing) => !reachesWorkbook(inner, thing) || reachesWorkbook(outer, thing)) &&
          spaces.every((space) => !reachesWorkspace(inner, space) || reachesWorkspace(outer, space)) &&
          (inner.kind !== 'account' || outer.kind === 'account');
        expect(containsReach(outer, inner, home)).toBe(covers);
      }),
    );
  });

  it('grows only upwards: what contains what contains it is the same', () => {
    fc.assert(
      fc.property(anyReach, anyReach, ids, (a, b, home) => {
        if (containsReach(a, b, home) && containsReach(b, a, home)) expect(a).toEqual(b);
      }),
    );
  });
});

describe('effectiveRoles and atLeast: roles', () => {
  it.each<[BaseRole, BaseRole, boolean]>([
    ['viewer', 'viewer', true],
    ['viewer', 'editor', false],
    ['viewer', 'admin', false],
    ['editor', 'viewer', true],
    ['editor', 'editor', true],
    ['editor', 'admin', false],
    ['admin', 'viewer', true],
    ['admin', 'editor', true],
    ['admin', 'admin', true],
  ])('%s is at least %s: %s', (role, needed, expected) => {
    expect(atLeast(role, needed)).toBe(expected);
  });

  it('are the base role first, then the custom ones, none twice', () => {
    expect(effectiveRoles('viewer', [])).toEqual(['viewer']);
    expect(effectiveRoles('viewer', ['経理', 'hr'])).toEqual(['viewer', '経理', 'hr']);
    expect(effectiveRoles('editor', ['editor', 'x'])).toEqual(['editor', 'x']);
    expect(reservedRoles).toEqual(expect.arrayContaining([...baseRoles, 'owner', '*']));
  });
});
