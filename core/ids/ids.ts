import { notFound } from '../errors.ts';

/** Identifiers: a prefix that says what it is, then a time-ordered 26-character id (ULID). */
export const idPrefixes = [
  'wb',
  'ws',
  'acc',
  'usr',
  'tok',
  'key',
  'ses',
  'job',
  'res',
  'upl',
  'whk',
  'dlv',
  'snp',
  'brn',
  'cfl',
  'lnk',
  'src',
  'evt',
  'req',
  'tbl',
  'ver',
  'mft',
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

export type MakeId = (prefix: IdPrefix) => string;

const shape = /^([a-z]{2,3})_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Whether the text is an id of that kind; anything else cannot name a thing that exists. */
export function isId(text: string, prefix: IdPrefix): boolean {
  return shape.exec(text)?.[1] === prefix;
}

/** The number of a row or an op, as it stands in an address; text that is no such number names nothing that exists. */
export function requireSequence(text: string, what: string): number {
  const number = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw notFound(what);
  return number;
}
