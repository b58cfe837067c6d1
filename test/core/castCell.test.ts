import { describe, expect, it } from 'vitest';
import { castCell } from '../../core/types/castCell.ts';

describe('castCell: JSON', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  it.each([
    ['a list', '[1, 2]', true],
    ['no JSON', '[1, 2', false],
    ['as deep as a request may be', nested(100), true],
    ['deeper', nested(101), false],
    ['brackets in a text', `"${nested(1000)}"`, true],
  ])('%s', (_, text, isTaken) => {
    expect(castCell({ kind: 'text', text }, { kind: 'JSON' })).toBe(isTaken ? text : undefined);
  });
});
