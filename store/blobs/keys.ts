/** `<prefix>/<sha256>.<ext>`; a prefix has one or more parts, none of which begins with a dot. */
interface BlobKey {
  sha256: string;
  /** `<sha256>.<ext>`: identifies the content whatever the prefix. */
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

/** All blobs of a workbook lie under this: deleting the workbook deletes them. */
export function workbookPrefix(workbook: { accountId: string; id: string }): string {
  return `${workbook.accountId}/${workbook.id}`;
}

/** The content of a table, and the files that say where its rows came from. */
export function tablePrefix(table: { accountId: string; workbookId: string; id: string }): string {
  return `${table.accountId}/${table.workbookId}/${table.id}`;
}

/** Original files, as they were sent. */
export function sourcesPrefix(workbook: { accountId: string; id: string }): string {
  return `${workbookPrefix(workbook)}/sources`;
}

export function resultsPrefix(workbook: { accountId: string; id: string }): string {
  return `${workbookPrefix(workbook)}/results`;
}

/** How far audit chains have come; `scope` is a workbook or an account. */
export function anchorsPrefix(accountId: string, scope: string): string {
  return `${accountId}/${scope}/anchors`;
}

export function isAnchor(key: string): boolean {
  return key.split('/').at(-2) === 'anchors';
}
