/** Names of tables and columns: cleaned, cut, and unique. */

export const MAX_NAME_LENGTH = 200;

/** Composed, as people type it: a file from a Mac may be named by two characters where SQL and addresses have one. */
export function cleanName(name: string): string {
  return cutName(
    name
      .normalize('NFC')
      .replace(/\s+/g, ' ')
      .replace(/\p{Cc}/gu, '')
      .trim()
      .toWellFormed(),
    MAX_NAME_LENGTH,
  );
}

/** Never through a surrogate pair, nor with a blank at its end. */
function cutName(name: string, length: number): string {
  if (name.length <= length) return name;
  const isSplit = /[\ud800-\udbff]/.test(name[length - 1] ?? '');
  return name.slice(0, isSplit ? length - 1 : length).trimEnd();
}

/** `.` and `..` mean other places in an address: what has such a name could never be asked for. */
export function isUsableName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}

/**
 * Names that differ in case alone, whoever folds them: the database folds letter by letter, where here İ gives two and a
 * sigma at the end of a word another one. Better two names too far apart than one that the database refuses.
 */
const foldWidely = (name: string) => name.toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ');

/** Hands out each name once; the next one of the same is `_2`. Case does not make a difference in SQL. */
export class NameRegistry {
  private readonly taken = new Set<string>();

  /** A name that is in use already, as it is. */
  take(name: string): void {
    this.taken.add(foldWidely(name));
  }

  /** A name that is not in use any more. */
  free(name: string): void {
    this.taken.delete(foldWidely(name));
  }

  claim(wanted: string, fallback: string): string {
    const base = [wanted, fallback].map(cleanName).find(isUsableName) ?? '表';
    let name = base;
    for (let n = 2; this.taken.has(foldWidely(name)); n += 1) name = suffixName(base, n);
    this.taken.add(foldWidely(name));
    return name;
  }
}

/** `name_2`, within the length a name may have. */
export function suffixName(base: string, n: number): string {
  return addSuffix(base, `_${n}`);
}

export function addSuffix(base: string, suffix: string): string {
  return `${cutName(base, MAX_NAME_LENGTH - suffix.length)}${suffix}`;
}

/** What the raw table of a sheet is called when structured tables have taken its place. */
export function nameArchivedRaw(name: string): string {
  return addSuffix(name, '_原本');
}

/** `F` without folder and extension. */
export function baseOfFile(fileName: string): string {
  const last = fileName.replace(/\\/g, '/').split('/').at(-1) ?? '';
  const base = last.replace(/\.[A-Za-z0-9]{1,5}$/, '');
  const name = cleanName(base);
  return isUsableName(name) ? name : '表';
}
