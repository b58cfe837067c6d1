/** Excel's limit, in UTF-16 units. */
const longestSheet = 31;
const notInSheets = /[[\]:*?/\\\p{Cc}]/gu;
/** Excel keeps these names for itself, by its language. */
const reserved = new Set(['history', '履歴']);

/** A name for the sheet of each table: as the table's, as far as Excel allows it, and unique in the way that Excel compares names. */
export function chooseSheetNames(tableNames: string[]): string[] {
  const names = tableNames.map((tableName) => {
    const cleaned = tableName.replace(notInSheets, '_').replace(/^'|'$/g, '_').trim();
    return cleaned === '' || reserved.has(cleaned.toLowerCase()) ? `${cleaned}_` : cleaned;
  });
  return makeUnique(names, longestSheet).map((name) => name.replace(/'$/, '_'));
}

const longestFile = 120;
const notInFiles = /[\\/:*?"<>|\p{Cc}]/gu;

/** A name for the file of each table, without its ending; unique also where case does not count. */
export function chooseFileNames(tableNames: string[]): string[] {
  return makeUnique(tableNames.map(cleanFileName), longestFile);
}

/** A name that every system takes for a file. */
export function cleanFileName(name: string): string {
  const cleaned = name.replace(notInFiles, '_').trim();
  return /^\.*$/.test(cleaned) ? `_${cleaned.replaceAll('.', '_')}` : cleaned;
}

function makeUnique(wanted: string[], longest: number): string[] {
  const taken = new Set<string>();
  return wanted.map((each) => {
    for (let n = 1; ; n += 1) {
      const suffix = n === 1 ? '' : ` (${n})`;
      const name = cutText(each, longest - suffix.length) + suffix;
      const key = comparisonKey(name);
      if (taken.has(key)) continue;
      taken.add(key);
      return name;
    }
  });
}

/** Excel ignores case, and a Japanese Excel also width and the kind of kana. */
function comparisonKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/'$/, '_')
    .replace(/[ぁ-ゖ]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) + 0x60));
}

/** Does not cut a pair of surrogates in two. */
function cutText(text: string, length: number): string {
  const end = /[\ud800-\udbff]/.test(text.charAt(length - 1)) && text.length > length ? length - 1 : length;
  return text.slice(0, end).trimEnd();
}
