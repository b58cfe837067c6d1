/** The server takes 400 bytes, of which the quotes and escapes of JSON need some, and encryption more. */
const mostBytes = 220;

/** What a workflow is about, for the list of Temporal's page: a verb and a name, cut where it is too long. */
export function writeSummary(verb: string, name: string): { staticSummary: string } {
  const text = `${verb} ${name}`;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > mostBytes) return { staticSummary: `${text.slice(0, end)}…` };
    end += character.length;
  }
  return { staticSummary: text };
}
