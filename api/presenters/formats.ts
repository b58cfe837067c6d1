/** Formats besides JSON, by their media types. */
export const formatTypes = { ndjson: 'application/x-ndjson', arrow: 'application/vnd.apache.arrow.stream' } as const;
export type StreamFormat = keyof typeof formatTypes;

/** Names in headers: percent-encoded UTF-8, comma-separated. */
export function encodeNames(names: string[]): string {
  return names.map(encodeURIComponent).join(',');
}
