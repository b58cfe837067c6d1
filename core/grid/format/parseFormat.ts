/** Reads a number format code such as `#,##0;△#,##0` or `[$-411]ggge"年"m"月"d"日"` into sections of tokens. */

export type FormatToken =
  | { type: 'literal'; text: string }
  | { type: 'digit'; mark: '0' | '#' | '?' }
  | { type: 'point' | 'comma' | 'percent' | 'slash' | 'general' | 'text' | 'gap' }
  | { type: 'exponent'; plus: boolean }
  | { type: 'date'; part: DatePart; length: number }
  | { type: 'elapsed'; part: 'h' | 'm' | 's'; length: number }
  | { type: 'halfDay'; am: string; pm: string }
  | { type: 'secondFraction'; length: number };

/** Year, month, day, hour, minute, second; era year, era name, Japanese weekday, Buddhist year. */
type DatePart = 'y' | 'M' | 'd' | 'h' | 'm' | 's' | 'e' | 'g' | 'a' | 'b';

type SectionKind = 'number' | 'date' | 'general' | 'text' | 'literal';

export interface FormatSection {
  kind: SectionKind;
  tokens: FormatToken[];
  condition: { operator: '<' | '<=' | '>' | '>=' | '=' | '<>'; value: number } | null;
  japanese: boolean;
  /** The first year of an era is shown as 元. */
  gannen: boolean;
  /** `[DBNum1]` to `[DBNum3]`: kanji, legal kanji or full-width digits. */
  digitStyle: 0 | 1 | 2 | 3;
}

export interface ParsedFormat {
  /** Sections for numbers, in the order of the code. */
  numeric: FormatSection[];
  /** Section for texts; null when texts are shown as they are. */
  text: FormatSection | null;
}

const cache = new Map<string, ParsedFormat>();
/** Excel takes 255 characters. */
const LONGEST_CODE = 1000;

export function parseFormat(code: string): ParsedFormat {
  let parsed = cache.get(code);
  if (!parsed) {
    parsed = arrangeSections(readSections(code.length > LONGEST_CODE ? 'General' : code));
    // Codes come from files: a file with ever new ones must not fill the memory.
    if (cache.size >= 2000) cache.clear();
    cache.set(code, parsed);
  }
  return parsed;
}

/** All but 'number' make a number a moment. 'time' has no day in it, nor has 'length', which counts hours, minutes or seconds on. */
export function classifyFormat(code: string): 'date' | 'time' | 'length' | 'number' {
  const dated = parseFormat(code).numeric.filter((section) => section.kind === 'date');
  if (dated.length === 0) return 'number';
  const hasDay = dated.some((section) => section.tokens.some((token) => token.type === 'date' && !'hms'.includes(token.part)));
  if (hasDay) return 'date';
  return dated.some((section) => section.tokens.some((token) => token.type === 'elapsed')) ? 'length' : 'time';
}

function arrangeSections(sections: FormatSection[]): ParsedFormat {
  const last = sections.at(-1) ?? null;
  const lastIsText = sections.length >= 4 || last?.kind === 'text';
  const numeric = lastIsText ? sections.slice(0, Math.min(3, sections.length - 1)) : sections.slice(0, 3);
  return { numeric, text: lastIsText ? last : null };
}

function readSections(code: string): FormatSection[] {
  const sections: FormatSection[] = [];
  let at = 0;
  do {
    const reader = new SectionReader(code, at);
    sections.push(reader.read());
    at = reader.at + 1;
  } while (at <= code.length && code[at - 1] === ';');
  return sections;
}

const HALF_DAYS = /AM\/PM|A\/P|午前\/午後|上午\/下午/iy;
const GENERAL = /General|G\/標準/iy;

class SectionReader {
  private readonly section: FormatSection = { kind: 'literal', tokens: [], condition: null, japanese: false, gannen: false, digitStyle: 0 };

  constructor(
    private readonly code: string,
    public at: number,
  ) {}

  read(): FormatSection {
    while (this.at < this.code.length && this.code[this.at] !== ';') this.readToken();
    separateMinutes(this.section.tokens);
    this.section.kind = decideKind(this.section.tokens);
    return this.section;
  }

  private readToken(): void {
    const { code } = this;
    const ch = code.charAt(this.at);
    switch (ch) {
      case '"': {
        const end = code.indexOf('"', this.at + 1);
        this.addLiteral(code.slice(this.at + 1, end < 0 ? code.length : end));
        this.at = end < 0 ? code.length : end + 1;
        return;
      }
      case '\\':
        this.addLiteral(code[this.at + 1] ?? '');
        this.at += 2;
        return;
      case '_':
      case '*':
        // The width of a character, or one repeated over the column's width: a gap, not a text.
        this.section.tokens.push({ type: 'gap' });
        this.at += 2;
        return;
      case '[':
        this.readBrackets();
        return;
      case '0':
      case '#':
      case '?':
        this.section.tokens.push({ type: 'digit', mark: ch });
        break;
      case '.':
        if (this.readSecondFraction()) return;
        this.section.tokens.push({ type: 'point' });
        break;
      case ',':
        this.section.tokens.push({ type: 'comma' });
        break;
      case '%':
        this.section.tokens.push({ type: 'percent' });
        break;
      case '/':
        this.section.tokens.push({ type: 'slash' });
        break;
      case '@':
        this.section.tokens.push({ type: 'text' });
        break;
      default:
        this.readLetters(ch);
        return;
    }
    this.at += 1;
  }

  private readLetters(ch: string): void {
    const { code, section } = this;
    if (matchAt(GENERAL, code, this.at)) {
      section.tokens.push({ type: 'general' });
      this.at = GENERAL.lastIndex;
      return;
    }
    if (matchAt(HALF_DAYS, code, this.at)) {
      const [am, pm] = code.slice(this.at, HALF_DAYS.lastIndex).split('/') as [string, string];
      section.tokens.push({ type: 'halfDay', am, pm });
      this.at = HALF_DAYS.lastIndex;
      return;
    }
    const sign = code[this.at + 1];
    if ((ch === 'E' || ch === 'e') && (sign === '+' || sign === '-') && section.tokens.some((token) => token.type === 'digit')) {
      section.tokens.push({ type: 'exponent', plus: sign === '+' });
      this.at += 2;
      return;
    }
    const lower = ch.toLowerCase();
    let length = 1;
    while (code[this.at + length]?.toLowerCase() === lower) length += 1;
    const isPart = 'ymdhseg'.includes(lower) || (lower === 'a' && length >= 3) || (lower === 'b' && length >= 2);
    if (isPart) section.tokens.push({ type: 'date', part: (lower === 'm' ? 'M' : lower) as DatePart, length });
    else this.addLiteral(code.slice(this.at, this.at + length));
    this.at += length;
  }

  /** `.00` after seconds is a fraction of them, not the point of a number. */
  private readSecondFraction(): boolean {
    const previous = this.section.tokens.at(-1);
    const afterSeconds = (previous?.type === 'date' || previous?.type === 'elapsed') && previous.part === 's';
    let length = 0;
    while (afterSeconds && this.code[this.at + 1 + length] === '0') length += 1;
    if (length === 0) return false;
    this.section.tokens.push({ type: 'secondFraction', length });
    this.at += 1 + length;
    return true;
  }

  private readBrackets(): void {
    const end = this.code.indexOf(']', this.at);
    const content = this.code.slice(this.at + 1, end < 0 ? this.code.length : end);
    this.at = end < 0 ? this.code.length : end + 1;
    const elapsed = /^(h+|m+|s+)$/i.exec(content);
    if (elapsed) {
      this.section.tokens.push({ type: 'elapsed', part: content.charAt(0).toLowerCase() as 'h' | 'm' | 's', length: content.length });
      return;
    }
    const condition = /^(<=|>=|<>|<|>|=)\s*(-?[0-9.]+(?:E[+-]?[0-9]+)?)$/i.exec(content);
    if (condition) {
      this.section.condition = { operator: condition[1] as '<', value: Number(condition[2]) };
      return;
    }
    const digits = /^DBNum([123])$/i.exec(content);
    if (digits) this.section.digitStyle = Number(digits[1]) as 1 | 2 | 3;
    if (content.startsWith('$')) this.readLocale(content.slice(1));
    // What is left are colours, which a text does not show.
  }

  /** `¥-411`, `-411`, `-ja-JP-x-gannen`: a currency sign and a language. */
  private readLocale(content: string): void {
    const dash = content.indexOf('-');
    this.addLiteral(dash < 0 ? content : content.slice(0, dash));
    const language = dash < 0 ? '' : content.slice(dash + 1);
    if (/^ja\b/i.test(language) || /0?411(?:,|$)/.test(language)) this.section.japanese = true;
    if (/gannen/i.test(language)) this.section.gannen = true;
  }

  private addLiteral(text: string): void {
    const previous = this.section.tokens.at(-1);
    if (previous?.type === 'literal') previous.text += text;
    else if (text !== '') this.section.tokens.push({ type: 'literal', text });
  }
}

function matchAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** `m` after hours or before seconds is minutes. */
function separateMinutes(tokens: FormatToken[]): void {
  const timed = tokens.filter((token) => token.type === 'date' || token.type === 'elapsed');
  timed.forEach((token, i) => {
    if (token.type !== 'date' || token.part !== 'M' || token.length > 2) return;
    const [before, after] = [timed[i - 1], timed[i + 1]];
    if (before?.part === 'h' || after?.part === 's') token.part = 'm';
  });
}

function decideKind(tokens: FormatToken[]): SectionKind {
  const has = (...types: FormatToken['type'][]): boolean => tokens.some((token) => types.includes(token.type));
  if (has('date', 'elapsed', 'halfDay')) return 'date';
  if (has('digit')) return 'number';
  if (has('general')) return 'general';
  if (has('text')) return 'text';
  return has('percent') ? 'number' : 'literal';
}
