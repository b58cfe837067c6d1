import { expect, it } from 'vitest';
import { type Derivation, findConsistent } from '../../core/lineage/consistent.ts';

/** `a@1 b@2`: versions by table. */
function readVersions(text: string): Map<string, number> {
  return new Map(
    text
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => word.split('@') as [string, string])
      .map(([id, version]) => [id, Number(version)]),
  );
}

/** `d: a@1 b@2`: what a table was made from. */
function readDerivations(lines: string[], revision = 1): Map<string, Derivation> {
  return new Map(
    lines.map((line) => {
      const [id = '', from = ''] = line.split(': ');
      const inputs = [...readVersions(from)].map(([inputId, inputVersion]) => ({ inputId, inputVersion, flows: null }));
      return [id, { transformId: `trf_${id}`, revision, inputs }];
    }),
  );
}

const transforms = (...ids: string[]) => new Map(ids.map((id) => [id, { id: `trf_${id}`, revision: 1 }]));

it.each([
  ['made from the versions that are there', 'a@3 d@7', ['d: a@3'], ['d']],
  ['made from another version', 'a@3 d@7', ['d: a@2'], []],
  ['made from several, one of which moved', 'a@3 b@2 d@7', ['d: a@3 b@1'], []],
  ['made from a table that is not there', 'd@7', ['d: a@3'], []],
  ['of which nothing is known', 'a@3 d@7', [], []],
  ['that is not there', 'a@3', ['d: a@3'], []],
  ['in a chain', 'a@3 d@7 e@2', ['d: a@3', 'e: d@7'], ['d', 'e']],
  ['behind one that is not', 'a@3 d@7 e@2', ['d: a@2', 'e: d@7'], []],
  ['beside one that is not', 'a@3 d@7 e@2', ['d: a@2', 'e: a@3'], ['e']],
])('a derived table %s', (_, versions, made, expected) => {
  expect([...findConsistent(readVersions(versions), readDerivations(made), transforms('d', 'e'))]).toEqual(expected);
});

it('a derived table whose transform was replaced', () => {
  expect(findConsistent(readVersions('a@3 d@7'), readDerivations(['d: a@3'], 2), transforms('d')).size).toBe(0);
});
