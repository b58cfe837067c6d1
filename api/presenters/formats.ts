/** Names in a header: percent-encoded UTF-8, separated by commas. */
export function encodeNames(names: string[]): string {
  return names.map(encodeURIComponent).join(',');
}

/** The name to save a file under; RFC 8187 leaves fewer characters as they are than addresses do. */
export function presentAttachment(filename: string): string {
  const name = encodeURIComponent(filename.toWellFormed());
  return `attachment; filename*=UTF-8''${name.replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)}`;
}
