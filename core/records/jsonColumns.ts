import { castValue } from '../cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import { LongNumber } from '../cells/givenRow.ts';
import { mayRound } from '../cells/jsonReader.ts';
import { type JsonRecord, type JsonValue, NestedJson, RecordFault } from './jsonRecord.ts';
import type { RecordBatch, RecordColumn } from './records.ts';

/** The most digits that a DECIMAL has. */
const mostDigits = 38;
const bigint = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** What was seen of a name's values, to choose its column's type. */
interface Seen {
  boolean: boolean;
  string: boolean;
  nested: boolean;
  number: boolean;
  /** A number that a double cannot hold exactly. */
  long: boolean;
  /** A number that is not whole, or a whole one outside of BIGINT. */
  fraction: boolean;
  outside: boolean;
  wholeDigits: number;
  fractionDigits: number;
}

/** Collects the names of all records and chooses a type for each. Records may lack names; those are null. */
export class JsonColumns {
  private readonly seen = new Map<string, Seen>();

  get size(): number {
    return this.seen.size;
  }

  add({ names, values }: JsonRecord): void {
    names.forEach((name, i) => {
      let seen = this.seen.get(name);
      if (!seen) {
        const none = { boolean: false, string: false, nested: false, number: false, long: false, fraction: false, outside: false };
        seen = { ...none, wholeDigits: 0, fractionDigits: 0 };
        this.seen.set(name, seen);
      }
      note(seen, values[i] as JsonValue);
    });
  }

  list(): RecordColumn[] {
    return [...this.seen].map(([name, seen]) => ({ name, type: chooseType(seen) }));
  }
}

function note(seen: Seen, value: JsonValue): void {
  if (value === null) return;
  if (typeof value === 'boolean') seen.boolean = true;
  else if (typeof value === 'string') seen.string = true;
  else if (value instanceof NestedJson) seen.nested = true;
  else noteNumber(seen, value);
}

function noteNumber(seen: Seen, value: number | LongNumber): void {
  seen.number = true;
  if (typeof value === 'number' && Number.isSafeInteger(value)) {
    seen.wholeDigits = Math.max(seen.wholeDigits, String(Math.abs(value)).length);
    return;
  }
  if (value instanceof LongNumber) seen.long = true;
  const plain = writeOut(value instanceof LongNumber ? value.text : String(value));
  if (plain === null) {
    seen.wholeDigits = Number.POSITIVE_INFINITY;
    seen.fraction = true;
    return;
  }
  const [whole = '', fraction = ''] = plain.replace('-', '').split('.');
  seen.wholeDigits = Math.max(seen.wholeDigits, whole.length);
  seen.fractionDigits = Math.max(seen.fractionDigits, fraction.length);
  if (fraction !== '') seen.fraction = true;
  else if (whole.length > 19 || !(BigInt(plain) >= bigint.least && BigInt(plain) <= bigint.most)) seen.outside = true;
}

/** Values of several kinds stay JSON. Numbers that a double would round become DECIMAL, or text when that is too small. */
function chooseType(seen: Seen): string {
  const kinds = Number(seen.boolean) + Number(seen.string) + Number(seen.number) + Number(seen.nested);
  if (kinds === 0) return 'VARCHAR';
  if (kinds > 1 || seen.nested) return 'JSON';
  if (seen.boolean) return 'BOOLEAN';
  if (seen.string) return 'VARCHAR';
  if (!seen.fraction && !seen.outside) return 'BIGINT';
  if (!seen.long) return 'DOUBLE';
  return seen.wholeDigits + seen.fractionDigits <= mostDigits ? `DECIMAL(${mostDigits},${seen.fractionDigits})` : 'VARCHAR';
}

/** A number without exponent and needless zeros; null when that would be longer than any type holds. */
function writeOut(text: string): string | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match) return null;
  const [, minus = '', whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent);
  if (Math.abs(shift) > 400) return null;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0');
  const at = Math.max(1, point);
  const [before, after] = [padded.slice(0, at).replace(/^0+(?=\d)/, ''), padded.slice(at).replace(/0+$/, '')];
  return `${minus}${before}${after === '' ? '' : `.${after}`}`;
}

/** Puts records into columns, as canonical texts. */
export class JsonBatch implements RecordBatch {
  rows = 0;
  readonly columns: (string | null)[][];
  private readonly positions: Map<string, number>;
  private readonly types: ColumnType[];

  constructor(private readonly described: RecordColumn[]) {
    this.columns = described.map(() => []);
    this.positions = new Map(described.map(({ name }, k) => [name, k]));
    this.types = described.map(({ type }) => parseColumnType(type) as ColumnType);
  }

  add({ names, values }: JsonRecord): void {
    names.forEach((name, i) => {
      const k = this.positions.get(name) as number;
      const column = this.columns[k] as (string | null)[];
      // Records that lack the name.
      while (column.length < this.rows) column.push(null);
      column.push(this.write(k, values[i] as JsonValue));
    });
    this.rows += 1;
  }

  finish(): RecordBatch {
    for (const column of this.columns) while (column.length < this.rows) column.push(null);
    return this;
  }

  private write(k: number, value: JsonValue): string | null {
    if (value === null) return null;
    const type = this.types[k] as ColumnType;
    if (type.kind === 'JSON') return this.writeJson(k, value);
    if (typeof value === 'string') return this.checkText(k, value);
    if (typeof value === 'boolean' || type.kind === 'DOUBLE') return String(value);
    const text = value instanceof LongNumber ? value.text : String(value);
    if (type.kind === 'VARCHAR') return text;
    const cast = castValue(type, writeOut(text));
    if (typeof cast === 'string') return cast;
    throw new RecordFault(`has a number under ${this.quoteName(k)} that does not fit`);
  }

  private writeJson(k: number, value: Exclude<JsonValue, null>): string {
    if (typeof value === 'string') return JSON.stringify(this.checkText(k, value));
    if (value instanceof LongNumber) return value.text;
    if (!(value instanceof NestedJson)) return String(value);
    const read: unknown = JSON.parse(value.text);
    this.checkNested(k, read);
    return mayRound(value.text) ? value.text : JSON.stringify(read);
  }

  private checkText(k: number, text: string): string {
    if (text.isWellFormed() && !text.includes('\u0000')) return text;
    throw new RecordFault(`has U+0000 or half a surrogate pair under ${this.quoteName(k)}, which text cannot hold`);
  }

  private checkNested(k: number, value: unknown): void {
    if (typeof value === 'string') this.checkText(k, value);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, item] of Object.entries(value)) {
      this.checkText(k, name);
      this.checkNested(k, item);
    }
  }

  private quoteName(k: number): string {
    return JSON.stringify(this.described[k]?.name.slice(0, 100));
  }
}
