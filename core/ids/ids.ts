/** Ids: a prefix that names the kind, then a time-ordered 26-character id (ULID). */
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

/** Whether the text is an id of that kind; no other text can name something that exists. */
export function isId(text: string, prefix: IdPrefix): boolean {
  return shape.exec(text)?.[1] === prefix;
}
