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
  'trf',
  'sht',
  'cht',
  'ver',
  'mft',
  'bnd',
  'chg',
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

export type MakeId = (prefix: IdPrefix) => string;

const shape = /^([a-z]{2,3})_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Whether a name could be taken for an id of that kind: names are found whatever their case. */
export function hasIdForm(name: string, prefix: IdPrefix): boolean {
  const at = prefix.length;
  return isId(`${name.slice(0, at).toLowerCase()}${name.slice(at).toUpperCase()}`, prefix);
}

/** Whether the text is an id of that kind; no other text can name something that exists. */
export function isId(text: string, prefix: IdPrefix): boolean {
  return shape.exec(text)?.[1] === prefix;
}
