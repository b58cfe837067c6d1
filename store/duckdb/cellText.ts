/**
 * SQL for the text of a value, as cells are kept (core/cells/castValue.ts). Of a decimal whose digits all stand after the
 * point the engine leaves out the zero before it, which JSON does not know as a number.
 */
export function cellText(sql: string, typeName: string): string {
  const text = `CAST(${sql} AS VARCHAR)`;
  const [, width, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(typeName) ?? [];
  return width !== undefined && width === scale ? String.raw`regexp_replace(${text}, '^(-?)\.', '\10.')` : text;
}
