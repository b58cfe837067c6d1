import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idPrefixes, isId } from '../../core/ids/ids.ts';
import { makeId } from '../../store/services.ts';

const alphabet = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
const anyPrefix = fc.constantFrom(...idPrefixes);

describe('makeId and isId: an id', () => {
  it('has the prefixes that were decided', () => {
    const decided = ['wb', 'ws', 'acc', 'usr', 'tok', 'key', 'job', 'res', 'upl', 'whk', 'dlv', 'snp', 'brn', 'cfl', 'lnk', 'src'];
    expect(idPrefixes).toEqual(expect.arrayContaining(decided));
    expect(new Set(idPrefixes).size).toBe(idPrefixes.length);
  });

  it('is its prefix and 26 characters, and is known as what it is', () => {
    fc.assert(
      fc.property(anyPrefix, anyPrefix, (prefix, other) => {
        const id = makeId(prefix);
        expect(id).toMatch(/^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/);
        expect(isId(id, prefix)).toBe(true);
        expect(isId(id, other)).toBe(prefix === other);
      }),
    );
  });

  it('is any text of that shape and no other', () => {
    const tail = fc.array(fc.constantFrom(...alphabet), { minLength: 26, maxLength: 26 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(anyPrefix, tail, (prefix, text) => {
        expect(isId(`${prefix}_${text}`, prefix)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), anyPrefix, (text, prefix) => {
        expect(isId(text, prefix)).toBe(/^[a-z]{2,3}_[0-9A-HJKMNP-TV-Z]{26}$/.test(text) && text.startsWith(`${prefix}_`));
      }),
    );
  });

  it.each([
    '',
    'wb',
    'wb_',
    `wb_${'0'.repeat(25)}`,
    `wb_${'0'.repeat(27)}`,
    `WB_${'0'.repeat(26)}`,
    `wb_${'I'.repeat(26)}`,
    `wb_${'a'.repeat(26)}`,
    ` wb_${'0'.repeat(26)}`,
    `wb_${'0'.repeat(26)}\n`,
    `wb_${'0'.repeat(13)}\u0000${'0'.repeat(12)}`,
  ])('is not %j', (text) => {
    expect(isId(text, 'wb')).toBe(false);
  });

  it('made later sorts later', async () => {
    const before = makeId('wb');
    await new Promise((done) => setTimeout(done, 3));
    expect(makeId('wb') > before).toBe(true);
  });
});
