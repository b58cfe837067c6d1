/** Names in a header: percent-encoded UTF-8, separated by commas. */
export function encodeNames(names: string[]): string {
  return names.map(encodeURIComponent).join(',');
}
