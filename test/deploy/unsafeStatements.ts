/** What processes of the release before would notice, and why. */
const rules: [RegExp, string][] = [
  [/\bDROP\s+(TABLE|COLUMN|VIEW|TYPE|SCHEMA|SEQUENCE)\b/i, 'takes away what they still use'],
  [/\bRENAME\b/i, 'takes away the name that they use'],
  [/\bALTER\s+COLUMN\s+\S+\s+(SET\s+DATA\s+)?TYPE\b/i, 'rewrites the table under a lock, and they may not read the new type'],
  [/\bSET\s+NOT\s+NULL\b/i, 'refuses the rows that they insert'],
  [/\bDROP\s+DEFAULT\b/i, 'refuses the rows that they insert'],
  [/\bADD\s+COLUMN\b(?![^;]*\bDEFAULT\b)[^;]*\bNOT\s+NULL\b/i, 'refuses the rows that they insert'],
  [/\bDROP\s+(FUNCTION|PROCEDURE|TRIGGER)\b/i, 'takes away what they call; see schema/functions/revision.ts'],
  [/\bTRUNCATE\b/i, 'takes away rows that they still use'],
];
/** Of a table that was there before. */
const rulesForOlder: [RegExp, string][] = [
  [/\bADD\s+CONSTRAINT\b[^;]*\b(CHECK|UNIQUE|FOREIGN\s+KEY|PRIMARY\s+KEY|EXCLUDE)\b/i, 'refuses rows that they may insert'],
  [/\bCREATE\s+UNIQUE\s+INDEX\b/i, 'refuses rows that they may insert'],
  [/\bCREATE\s+INDEX\b/i, 'keeps their writes waiting while it is made'],
];
const reason = /^\s*-- Safe while the release before runs: \S.{10,}$/m;

/**
 * Statements of a migration that are not safe while processes of the release before run, unless a comment in front of them says why
 * they are: `-- Safe while the release before runs: …`.
 */
export function findUnsafeStatements(migration: string): string[] {
  const statements = migration.split('--> statement-breakpoint');
  const created = new Set([...migration.matchAll(/\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?"?(\w+)"?/gi)].map(([, name]) => name));
  return statements.flatMap((statement) => {
    if (reason.test(statement)) return [];
    const code = statement.replaceAll(/--.*$/gm, '').trim();
    const table = /\b(?:ALTER\s+TABLE(?:\s+ONLY)?|INDEX[^;]*?\bON)\s+(?:"?public"?\.)?"?(\w+)"?/i.exec(code)?.[1];
    const applied = table !== undefined && created.has(table) ? rules : [...rules, ...rulesForOlder];
    return applied.filter(([pattern]) => pattern.test(code)).map(([, why]) => `${code.slice(0, 100)}: ${why}`);
  });
}
