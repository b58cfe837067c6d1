import { describe, expect, it } from 'vitest';
import { chooseNextRuns, findAbove, findBelow } from '../../core/transforms/nextRuns.ts';

/** `b: a+` is a transform b that reads a; + says that its output is stale. */
const graph = (...lines: string[]) =>
  lines.map((line) => {
    const [id = '', inputs = ''] = line.replace('+', '').split(':');
    return { id, outputId: id, inputIds: inputs.trim().split(' '), isStale: line.includes('+') };
  });

describe('what is run next', () => {
  it.each([
    ['nothing that is fresh', graph('b: a', 'c: b'), [], null, []],
    ['all that do not depend on each other', graph('b: a+', 'c: a+'), [], null, ['b', 'c']],
    ['inputs before what is made from them', graph('c: b+', 'b: a+'), [], null, ['b']],
    ['also through a table that is fresh', graph('b: a+', 'c: b', 'd: c+'), [], null, ['b']],
    ['the next, when its input is fresh', graph('b: a', 'c: b+'), ['b'], null, ['c']],
    ['nothing behind a failure, but the others', graph('b: a+', 'c: b+', 'd: a+'), ['b'], null, ['d']],
    ['nothing twice', graph('b: a+'), ['b'], null, []],
    ['only what is wanted', graph('b: a', 'c: b+', 'd: a+'), ['b'], new Set(['b', 'c']), ['c']],
    ['whatever is stale elsewhere', graph('x: y+', 'b: a', 'c: b x+'), ['b'], new Set(['b', 'c']), ['c']],
    ['whatever is stale elsewhere before a fresh table', graph('x: y+', 'b: x', 'c: b+'), [], new Set(['b', 'c']), ['c']],
  ])('%s', (_, nodes, tried, only, next) => expect(chooseNextRuns(nodes, new Set(tried), only)).toEqual(next));

  it('is found from a table in both directions', () => {
    const nodes = graph('b: a', 'c: a', 'd: b c', 'e: d', 'f: c');
    expect(findAbove(nodes, ['d'])).toEqual(new Set(['d', 'b', 'c', 'a']));
    expect(findBelow(nodes, 'b')).toEqual(new Set(['b', 'd', 'e']));
  });
});
