import { GivenRow } from './givenRow.ts';
import { JsonReader, unread } from './jsonReader.ts';
import { sign } from './jsonText.ts';

/**
 * Parses a JSON object that has an array of objects under `rows`, with those objects as GivenRow; null for any other text.
 *
 * JSON.parse is not used for the rows because it silently rounds numbers, and because an object of 128 or more properties
 * becomes a hash table, which makes wide rows three times as expensive.
 */
export function parseRowsJson(text: string): Record<string, unknown> | null {
  try {
    const reader = new RowsReader(text);
    const start = reader.findRows();
    const rows = reader.readRows();
    const rest = text.slice(reader.at);
    // `rows` may come twice, and then the last one counts: leave that to JSON.parse.
    if (/rows|\\/.test(rest)) return null;
    const head = JSON.parse(`${text.slice(0, start)}[]${rest}`) as Record<string, unknown>;
    head.rows = rows;
    return head;
  } catch {
    return null;
  }
}

/** Rows as lines of JSON, or the first line that is not an object. */
export type RowLines = { kind: 'rows'; rows: GivenRow[] } | { kind: 'bad'; row: number; line: number; text: string };

/** Parses lines of JSON objects, one row each. Empty lines do not count. */
export function parseRowLines(text: string): RowLines {
  const reader = new RowsReader(text);
  const rows: GivenRow[] = [];
  let start = 0;
  try {
    while (reader.findLine()) {
      start = reader.at;
      rows.push(reader.readLine());
    }
    return { kind: 'rows', rows };
  } catch {
    const [bad = ''] = text.slice(start).split('\n', 1);
    return { kind: 'bad', row: rows.length, line: text.slice(0, start).split('\n').length, text: bad };
  }
}

class RowsReader extends JsonReader {
  /** Column names of the previous row, reused while rows name the same columns in the same order, as most do. */
  private names: string[] = [];
  /** The text of each name including quotes and colon, to compare without parsing. */
  private marks: string[] = [];
  /** Whether the current row differs from the previous one, so that `names` and `marks` are copies of its own. */
  private departed = false;

  /** U+0000 and lone surrogates can only come from escapes. Giving up here lets the caller report where they are. */
  protected override unescape(quoted: string): string {
    const value = super.unescape(quoted);
    if (value.includes('\u0000') || !value.isWellFormed()) throw unread;
    return value;
  }

  /** Moves to the array under `rows` and returns its position. */
  findRows(): number {
    this.skipBlank();
    this.take(sign.brace);
    for (;;) {
      this.skipBlank();
      const name = this.readString();
      this.skipBlank();
      this.take(sign.colon);
      this.skipBlank();
      if (name === 'rows') return this.at;
      this.skipValue();
      this.skipBlank();
      this.take(sign.comma);
    }
  }

  readRows(): GivenRow[] {
    const rows: GivenRow[] = [];
    this.take(sign.bracket);
    this.skipBlank();
    if (this.text.charCodeAt(this.at) === sign.bracketEnd) {
      this.at += 1;
      return rows;
    }
    for (;;) {
      this.skipBlank();
      rows.push(this.readRow());
      this.skipBlank();
      if (this.text.charCodeAt(this.at) === sign.comma) this.at += 1;
      else {
        this.take(sign.bracketEnd);
        return rows;
      }
    }
  }

  /** Moves to the next line that is not empty; false at the end. */
  findLine(): boolean {
    this.skipBlank();
    return this.at < this.text.length;
  }

  /** A row that stands alone on its line. */
  readLine(): GivenRow {
    const start = this.at;
    const row = this.readRow();
    if (this.text.slice(start, this.at).includes('\n')) throw unread;
    const rest = /[ \t\r]*(\n|$)/y;
    rest.lastIndex = this.at;
    if (!rest.test(this.text)) throw unread;
    return row;
  }

  private readRow(): GivenRow {
    const { text } = this;
    const values: unknown[] = new Array(this.names.length);
    let place = 0;
    this.departed = false;
    this.take(sign.brace);
    this.skipBlank();
    if (text.charCodeAt(this.at) === sign.braceEnd) this.at += 1;
    else
      for (;;) {
        this.readName(place);
        values[place] = this.readValue();
        place += 1;
        this.skipBlank();
        if (text.charCodeAt(this.at) === sign.comma) {
          this.at += 1;
          this.skipBlank();
        } else {
          this.take(sign.braceEnd);
          break;
        }
      }
    if (place < this.names.length) this.depart(place);
    values.length = place;
    return new GivenRow(this.names, values);
  }

  private depart(place: number): void {
    if (this.departed) return;
    this.departed = true;
    this.names = this.names.slice(0, place);
    this.marks = this.marks.slice(0, place);
  }

  private readName(place: number): void {
    const known = this.marks[place];
    if (known !== undefined && this.stands(known)) {
      this.at += known.length;
      return;
    }
    this.depart(place);
    const start = this.at;
    this.names.push(this.readString());
    this.skipBlank();
    this.take(sign.colon);
    this.skipBlank();
    this.marks.push(this.text.slice(start, this.at));
  }

  private stands(mark: string): boolean {
    const { text, at } = this;
    for (let i = 0; i < mark.length; i += 1) if (text.charCodeAt(at + i) !== mark.charCodeAt(i)) return false;
    return true;
  }
}
