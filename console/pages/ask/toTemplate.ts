/**
 * A query as the template of a transform, which names its tables by arguments: `FROM 売上` becomes `FROM {{ t1 }}`, with t1 = 売上.
 * Only names that stand where a table stands are taken.
 */
export function toTemplate(sql: string, tables: string[]): { template: string; args: Record<string, string> } {
  const byName = new Map(tables.map((name) => [name.toLowerCase(), name]));
  const argOf = new Map<string, string>();
  let expectsTable = false;
  /** Whether a comma would be followed by another table, for each open parenthesis. */
  const lists: boolean[] = [false];
  const template = sql.replace(tokens, (token) => {
    if (/^(--|\/\*|'|\s)/.test(token)) return token;
    const word = token.toLowerCase();
    if (token === '(') {
      // A parenthesis behind FROM may hold a query or more tables.
      lists.push(expectsTable);
      return token;
    }
    if (token === ')') lists.pop();
    const wasExpected = expectsTable;
    expectsTable = word === 'from' || word === 'join' || (token === ',' && lists.at(-1) === true);
    if (word === 'from') lists[lists.length - 1] = true;
    else if (clauses.has(word)) lists[lists.length - 1] = false;
    const name = wasExpected ? byName.get(unquote(token).toLowerCase()) : undefined;
    if (name === undefined) return token;
    const arg = argOf.get(name) ?? `t${argOf.size + 1}`;
    argOf.set(name, arg);
    return `{{ ${arg} }}`;
  });
  return { template, args: Object.fromEntries([...argOf].map(([name, arg]) => [arg, name])) };
}

/** Comments, texts, quoted names, words, blanks, and whatever else letter by letter. */
const tokens = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*|\s+|[\s\S]/gu;

const clauses = new Set(['select', 'where', 'group', 'order', 'having', 'limit', 'union', 'on', 'using', 'qualify', 'window']);

const unquote = (token: string) => (token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : token);
