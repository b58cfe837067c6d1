/** DuckDB's words about the whole query, and what they mean for somebody who wrote only the filter in it. */
const rewordings: [RegExp, string | ((...found: string[]) => string)][] = [
  // DuckDB quotes the unread rest of the query, which goes beyond the filter.
  [/^(unterminated .*?) at or near "[\s\S]*"/, '$1'],
  [/^syntax error at or near "([\s\S]*)"/, 'The filter is not one expression: it goes wrong at "$1"'],
  [
    /^Referenced column ("[\s\S]*") not found in FROM clause!(?:\s*Candidate bindings: ([^\n]*))?/,
    (_, name = '', candidates) => `There is no column ${name}${candidates ? `; did you mean ${candidates.replaceAll(', ', ' or ')}?` : ''}`,
  ],
  [/^Referenced table ("[\s\S]*") not found![\s\S]*/, 'There is no table $1 in a filter; name its columns alone'],
  [/^WHERE clause cannot contain (.*)!/, 'A filter cannot contain $1'],
  [/^STAR expression is not allowed[\s\S]*/, 'A filter cannot contain *'],
  [
    /^No function matches the given name and argument types '([\s\S]*?)'\. (You might need to add explicit type casts\.)[\s\S]*/,
    'There is no $1. $2',
  ],
  [/\bin the WHERE clause\b/, 'in a filter'],
];

const countLines = (text: string) => text.split('\n').length;

/** An error of the query around a filter as an error of the filter. `sql` holds the filter on lines of its own. */
export function explainFilterError(text: string, sql: string, filter: string): string {
  const [, what = text, line, column] = /^([\s\S]*) \(line (\d+), column (\d+)\)$/.exec(text) ?? [];
  const own = Number(line) - countLines(sql.slice(0, sql.indexOf(`\n${filter}\n`)));
  if (own > countLines(filter)) return 'The filter ends too early, or is more than one expression.';
  let told = what;
  for (const [pattern, words] of rewordings) told = told.replace(pattern, words as string);
  return line === undefined ? told : `${told} (line ${own}, column ${column})`;
}
