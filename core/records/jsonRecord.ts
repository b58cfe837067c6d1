import type { LongNumber } from '../cells/givenRow.ts';
import { JsonReader } from '../cells/jsonReader.ts';
import { foreignWords, sign } from '../cells/jsonText.ts';

/** An object or array inside a record, as it was written. */
export class NestedJson {
  constructor(readonly text: string) {}
}

export type JsonValue = null | boolean | number | LongNumber | string | NestedJson;

export interface JsonRecord {
  names: string[];
  values: JsonValue[];
}

/** Why a text is no record. */
export class RecordFault extends Error {}

/** Reads one JSON object. No number is rounded, and a name that comes twice is refused: either value could be meant. */
export function readJsonRecord(text: string): JsonRecord {
  try {
    return new RecordReader(text).readRecord();
  } catch (error) {
    throw error instanceof RecordFault ? error : new RecordFault(explain(text));
  }
}

class RecordReader extends JsonReader {
  readRecord(): JsonRecord {
    const record: JsonRecord = { names: [], values: [] };
    const known = new Set<string>();
    this.skipBlank();
    this.take(sign.brace);
    this.skipBlank();
    if (this.text.charCodeAt(this.at) === sign.braceEnd) this.at += 1;
    else
      for (;;) {
        const name = this.readString();
        if (known.size === known.add(name).size) throw new RecordFault(`has the name ${JSON.stringify(name.slice(0, 100))} twice`);
        this.skipBlank();
        this.take(sign.colon);
        this.skipBlank();
        record.names.push(name);
        record.values.push(this.readValue());
        this.skipBlank();
        if (this.text.charCodeAt(this.at) !== sign.comma) break;
        this.at += 1;
        this.skipBlank();
      }
    if (this.text.charCodeAt(this.at - 1) !== sign.braceEnd || record.names.length > 0) this.take(sign.braceEnd);
    this.skipBlank();
    if (this.at < this.text.length) throw new RecordFault('has something behind its end');
    return record;
  }

  protected override readValue(): JsonValue {
    const code = this.text.charCodeAt(this.at);
    if (code !== sign.brace && code !== sign.bracket) return super.readValue() as JsonValue;
    const start = this.at;
    this.skipValue();
    const text = this.text.slice(start, this.at);
    JSON.parse(text);
    return new NestedJson(text);
  }
}

/** What is wrong with a text that could not be read. */
function explain(text: string): string {
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const word = new RegExp(foreignWords).exec(bare)?.[0];
  if (word) return `has ${word}, which JSON does not know; write null, true or false`;
  try {
    JSON.parse(text);
    return 'is nested too deeply';
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    return `is not JSON${position === undefined ? '' : `: see its character ${Number(position) + 1}`}`;
  }
}
