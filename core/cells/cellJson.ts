import type { ColumnType } from './columnTypes.ts';

/**
 * A cell's canonical text as a JSON value. Must match what the SQL of store/duckdb/json.ts writes: whole numbers beyond
 * 2^53 and decimals are strings with every digit; times are ISO 8601 with six digits of a second or none.
 */
export function cellJson(type: ColumnType, text: string | null): string {
  if (text === null) return 'null';
  switch (type.kind) {
    case 'BIGINT':
      return Number.isSafeInteger(Number(text)) && /^-?\d{1,16}$/.test(text) ? text : JSON.stringify(text);
    case 'DOUBLE': {
      const number = Number(text);
      if (Object.is(number, -0)) return '-0.0';
      return Number.isFinite(number) ? JSON.stringify(number) : 'null';
    }
    case 'BOOLEAN':
      return text === 'true' ? 'true' : 'false';
    case 'TIMESTAMP':
      return JSON.stringify(padFraction(text.replace(' ', 'T')));
    case 'TIME':
      return JSON.stringify(padFraction(text));
    case 'JSON':
      return isJson(text) ? text : 'null';
    default:
      return JSON.stringify(text);
  }
}

function padFraction(text: string): string {
  const point = text.indexOf('.');
  return point < 0 ? text : text.padEnd(point + 7, '0');
}

/** The engine accepts NaN and Infinity inside JSON values; standard JSON does not. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
