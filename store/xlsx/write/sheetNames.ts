/** Excel's limit, in UTF-16 units. */
const longest = 31;
const forbidden = /[[\]:*?/\\\p{Cc}]/gu;
/** Excel keeps these names for itself, by its language. */
const reserved = new Set(['history', '履歴']);

/** A name for the sheet of each table: as the table's, as far as Excel allows it, and unique in the way that Excel compares names. */
export function chooseSheetNames(tableNames: string[]): string[] {
  const taken = new Set<string>();
  return tableNames.map((tableName) => {
    const cleaned = tableName.replace(forbidden, '_').replace(/^'|'$/g, '_').trim();
    const wanted = cleaned === '' || reserved.has(cleaned.toLowerCase()) ? `${cleaned}_` : cleaned;
    for (let n = 1; ; n += 1) {
      const suffix = n === 1 ? '' : ` (${n})`;
      const name = cutText(wanted, longest - suffix.length).replace(/'$/, '_') + suffix;
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
    .replace(/[ぁ-ゖ]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) + 0x60));
}

/** Does not cut a pair of surrogates in two. */
function cutText(text: string, length: number): string {
  const end = /[\ud800-\udbff]/.test(text.charAt(length - 1)) && text.length > length ? length - 1 : length;
  return text.slice(0, end).trimEnd();
}
