/** An operation in the text of the contract, up to its summary: id and summary are lines of the same indent. */
const operationHead = /^( +)operationId: (\w+)\n((?:\1\S.*\n)*?)\1summary: ("?)(.*?)\4$/gm;

/** Marks operations of the contract that are not built yet, for people in the summary and for programs by `x-not-built`. */
export function markUnbuilt(contract: string, pending: ReadonlySet<string>): string {
  return contract.replace(operationHead, (head, indent: string, id: string, between: string, quote: string, summary: string) =>
    pending.has(id)
      ? `${indent}operationId: ${id}\n${indent}x-not-built: true\n${between}${indent}summary: ${quote}${summary} (not built yet)${quote}`
      : head,
  );
}
