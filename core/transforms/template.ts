/** The SQL of a template, with a name of our own for each argument; or what is wrong with it. */
export type BoundTemplate =
  | { kind: 'bound'; sql: string; names: Map<string, string> }
  | { kind: 'faulty'; faults: { pointer: string; detail: string }[] };

/**
 * Puts names of tables in place of `{{ arg }}`. The names are made up here, so that no text of a request becomes SQL. What
 * stands in texts, quoted names and comments is left as it is.
 */
export function bindTemplate(template: string, args: readonly string[]): BoundTemplate {
  const prefix = chooseName(template);
  const names = new Map(args.map((arg, i) => [arg, `${prefix}${i + 1}`]));
  const faults: { pointer: string; detail: string }[] = [];
  const used = new Set<string>();
  let sql = '';
  let at = 0;
  while (at < template.length) {
    const skipped = skipVerbatim(template, at);
    if (skipped > at) {
      sql += template.slice(at, skipped);
      at = skipped;
      continue;
    }
    if (!template.startsWith('{{', at)) {
      sql += template[at];
      at += 1;
      continue;
    }
    const end = template.indexOf('}}', at);
    if (end < 0) {
      faults.push({ pointer: '/template', detail: `the {{ at character ${at + 1} is not closed` });
      break;
    }
    const arg = template.slice(at + 2, end).trim();
    const name = names.get(arg);
    if (name === undefined) faults.push({ pointer: '/template', detail: describeUnknown(arg) });
    else {
      used.add(arg);
      sql += ` ${name} `;
    }
    at = end + 2;
  }
  for (const arg of args) if (!used.has(arg)) faults.push({ pointer: `/args/${arg}`, detail: `the template does not use {{ ${arg} }}` });
  return faults.length > 0 ? { kind: 'faulty', faults } : { kind: 'bound', sql, names };
}

/** A message about the bound SQL in the words of the template. */
export function unbindText(text: string, names: ReadonlyMap<string, string>): string {
  // The longest first: one name may begin with another.
  const all = [...names].sort(([, a], [, b]) => b.length - a.length);
  return all.reduce((result, [arg, name]) => result.replaceAll(name, `{{ ${arg} }}`), text);
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

function describeUnknown(arg: string): string {
  if (!identifier.test(arg)) return '{{ }} holds the name of an argument and nothing else';
  return `{{ ${arg} }} names no argument of \`args\``;
}

/** A beginning of names that does not occur in the template. */
function chooseName(template: string): string {
  const text = template.toLowerCase();
  let prefix = 'svc_arg_';
  while (text.includes(prefix)) prefix += '_';
  return prefix;
}

/** The end of a text, quoted name or comment that begins here; else the same place. An open one goes to the end. */
function skipVerbatim(sql: string, at: number): number {
  const rest = (found: number, length: number) => (found < 0 ? sql.length : found + length);
  if (sql.startsWith('--', at)) return rest(sql.indexOf('\n', at), 1);
  if (sql.startsWith('/*', at)) return rest(sql.indexOf('*/', at + 2), 2);
  const character = sql[at];
  if (character === '"') return rest(sql.indexOf('"', at + 1), 1);
  if (character === "'")
    return /(^|[^\w$])[eE]$/.test(sql.slice(Math.max(0, at - 2), at)) ? skipEscaped(sql, at) : rest(sql.indexOf("'", at + 1), 1);
  if (character === '$') {
    const tag = /^\$(?:[A-Za-z_]\w*)?\$/.exec(sql.slice(at, at + 66))?.[0];
    if (tag) return rest(sql.indexOf(tag, at + tag.length), tag.length);
  }
  return at;
}

/** A text in which a backslash takes the meaning of the character behind it. */
function skipEscaped(sql: string, at: number): number {
  for (let i = at + 1; i < sql.length; i += 1) {
    if (sql[i] === '\\') i += 1;
    else if (sql[i] === "'") return i + 1;
  }
  return sql.length;
}
