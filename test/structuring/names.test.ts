import { describe, expect, it } from 'vitest';
import {
  addSuffix,
  baseOfFile,
  cleanName,
  isUsableName,
  MAX_NAME_LENGTH,
  NameRegistry,
  nameArchivedRaw,
  suffixName,
} from '../../core/structuring/names/names.ts';
import { namingOf } from '../../core/structuring/names/naming.ts';

describe('cleanName', () => {
  it.each([
    ['売上\n 高', '売上 高'],
    ['  a\tb  ', 'a b'],
    ['か\u3099', 'が'],
    ['a\u0000b', 'ab'],
    ['a\ud800', 'a\ufffd'],
    ['', ''],
  ])('makes %j %j', (written, clean) => expect(cleanName(written)).toBe(clean));

  it('cuts at the longest length, and never inside a character', () => {
    expect(cleanName('x'.repeat(300))).toHaveLength(MAX_NAME_LENGTH);
    const cut = cleanName(`${'x'.repeat(MAX_NAME_LENGTH - 1)}𠮷`);
    expect(cut).toBe('x'.repeat(MAX_NAME_LENGTH - 1));
  });
});

describe('isUsableName', () => {
  it.each([
    ['表', true],
    ['...', true],
    ['', false],
    ['.', false],
    ['..', false],
  ])('of %j is %s', (name, usable) => expect(isUsableName(name)).toBe(usable));
});

describe('suffixName, addSuffix and nameArchivedRaw', () => {
  it('append', () => {
    expect([suffixName('表', 2), addSuffix('表', '_x'), nameArchivedRaw('表', namingOf(null))]).toEqual(['表_2', '表_x', '表_原本']);
  });

  it('shorten the base, not the suffix, where both are too long', () => {
    expect(suffixName('x'.repeat(MAX_NAME_LENGTH), 12)).toBe(`${'x'.repeat(MAX_NAME_LENGTH - 3)}_12`);
  });
});

describe('NameRegistry', () => {
  it('hands out each name once, whatever its case', () => {
    const names = new NameRegistry();
    expect(['Sales', 'SALES', 'sales', 'İ', 'i', 'σ', 'ς'].map((name) => names.claim(name, 'f'))).toEqual([
      'Sales',
      'SALES_2',
      'sales_3',
      'İ',
      'i_2',
      'σ',
      'ς_2',
    ]);
  });

  it('does not hand out what is in use, and does again what was freed', () => {
    const names = new NameRegistry();
    names.take('売上');
    expect(names.claim('売上', 'f')).toBe('売上_2');
    names.free('売上');
    expect(names.claim('売上', 'f')).toBe('売上');
  });

  it('leaves out what nobody sees', () => {
    const names = new NameRegistry();
    expect(names.claim('売\n上\u202e\u0007', 'f')).toBe('売 上');
    expect(names.claim('\u200b\u200d', 'f')).toBe('f');
    expect(names.claim('葛\u{e0100}城', 'f')).toBe('葛\u{e0100}城');
  });

  it('never hands out what could be taken for the id of a table', () => {
    const names = new NameRegistry();
    const id = 'tbl_01ARZ3NDEKTSV4RRFFQ69G5FAV';
    expect([names.claim(id, 'f'), names.claim(id.toLowerCase(), 'f'), names.claim(' ', `${id}\n`)]).toEqual([
      `${id}_1`,
      `${id.toLowerCase()}_2`,
      `${id}_3`,
    ]);
  });

  it('takes the fallback for a name that cannot be used, and 表 without one', () => {
    const names = new NameRegistry();
    expect([names.claim(' ', 'file'), names.claim('..', ''), names.claim('', '.')]).toEqual(['file', '表', '表_2']);
  });
});

describe('baseOfFile', () => {
  it.each([
    ['folder/売上.xlsx', '売上'],
    ['C:\\data\\a.b.csv', 'a.b'],
    ['noextension', 'noextension'],
    ['.xlsx', '表'],
    ['', '表'],
    ['report.longextension', 'report.longextension'],
  ])('of %j is %j', (file, base) => expect(baseOfFile(file)).toBe(base));
});
