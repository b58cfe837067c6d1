import { GivenRow } from './givenRow.ts';
import { JsonReader, unread } from './jsonReader.ts';
import { sign } from './jsonText.ts';

/**
 * A JSON object whose `rows` are an array of objects, with those as GivenRow; null when the text is anything else.
 *
 * JSON.parse would do, but for two things: it rounds numbers without a word; and an object of 128 and more
 * properties becomes a hash table, which makes wide rows cost three times what they need.
 */
export function parseRowsJson(text: string): Record<string, unknown> | null {
  try {
    const reader = new RowsReader(text);
    const start = reader.findRows();
    const rows = reader.readRows();
    const rest = text.slice(reader.at);
    // Of a name that comes twice the last one counts: left to JSON.parse.
    if (/rows|\\/.test(rest)) return null;
    const head = JSON.parse(`${text.slice(0, start)}[]${rest}`) as Record<string, unknown>;
    head.rows = rows;
    return head;
  } catch {
    return null;
  }
}

class RowsReader extends JsonReader {
  /** Of the row before: most rows of a request name the same columns in the same order. */
  private names: string[] = [];
  /** Each name as it stands in the text, with quotes and colon. */
  private marks: string[] = [];
  /** Whether this row has departed from them, and its lists are its own. */
  private departed = false;

  /** Only an escape brings these in; where they stand is said by whoever reads next. */
  protected override unescape(quoted: string): string {
    const value = super.unescape(quoted);
    if (value.includes('\u0000') || !value.isWellFormed()) throw unread;
    return value;
  }

  /** Moves to the array and returns its place. */
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
