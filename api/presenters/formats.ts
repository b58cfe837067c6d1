/** Media types of the formats besides JSON. */
export const formatTypes = { ndjson: 'application/x-ndjson', arrow: 'application/vnd.apache.arrow.stream' } as const;
export type StreamFormat = keyof typeof formatTypes;

/** Names in a header: percent-encoded UTF-8, separated by commas. */
export function encodeNames(names: string[]): string {
  return names.map(encodeURIComponent).join(',');
}
