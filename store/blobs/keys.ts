/** `<prefix>/<sha256>.<ext>`; a prefix has one or more parts, none of which begins with a dot. */
export interface BlobKey {
  sha256: string;
  /** `<sha256>.<ext>`: what says which content it is, wherever it lies. */
  name: string;
}

const prefixPattern = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/;
const namePattern = /^([0-9a-f]{64})\.[a-z0-9]+(\.[a-z0-9]+)*$/;

export function makeKey(prefix: string, sha256: string, ext: string): string {
  const key = `${prefix}/${sha256}.${ext}`;
  parseKey(key);
  return key;
}

/** Throws when it is not a key: what comes here may end up in a path. */
export function parseKey(key: string): BlobKey {
  const parsed = tryParseKey(key);
  if (!parsed) throw new Error(`not a key of a blob: ${JSON.stringify(key.slice(0, 200))}`);
  return parsed;
}

export function tryParseKey(key: string): BlobKey | null {
  const slash = key.lastIndexOf('/');
  if (slash < 0 || !prefixPattern.test(key.slice(0, slash))) return null;
  const name = key.slice(slash + 1);
  const sha256 = namePattern.exec(name)?.[1];
  return sha256 === undefined ? null : { sha256, name };
}

export function checkPrefix(prefix: string): string {
  if (prefix !== '' && !prefixPattern.test(prefix)) throw new Error(`not a prefix of blobs: ${JSON.stringify(prefix.slice(0, 200))}`);
  return prefix;
}
