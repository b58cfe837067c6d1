/**
 * SQL for the text of a value, as cells are stored (core/cells/castValue.ts). DuckDB writes a decimal without integer digits
 * as `.5`, which is not valid JSON; this adds the zero.
 */
export function cellText(sql: string, typeName: string): string {
  const text = `CAST(${sql} AS VARCHAR)`;
  const [, width, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(typeName) ?? [];
  return width !== undefined && width === scale ? String.raw`regexp_replace(${text}, '^(-?)\.', '\10.')` : text;
}
