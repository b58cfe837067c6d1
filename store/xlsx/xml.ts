/**
 * Small parts of a workbook (relations, styles, tables): a walk over tags and texts. Names come without their
 * namespace prefix, so that `<x:font>` and strict OOXML read like `<font>`.
 */

import { refuseDamaged, refuseDoctype } from './fileRefusals.ts';

interface XmlHandler {
  open(name: string, attributes: XmlAttributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

export class XmlAttributes {
  private parsed: Map<string, string> | null = null;

  constructor(private readonly source: string) {}

  get(name: string): string | undefined {
    this.parsed ??= parseAttributes(this.source);
    return this.parsed.get(name);
  }

  number(name: string): number | null {
    const text = this.get(name);
    const value = text === undefined || text === '' ? Number.NaN : Number(text);
    return Number.isFinite(value) ? value : null;
  }

  flag(name: string): boolean {
    const text = this.get(name);
    return text === '1' || text === 'true';
  }
}

/** Not by regular expression: on a long name without a value, one would backtrack for too long. */
export function parseAttributes(source: string): Map<string, string> {
  const attributes = new Map<string, string>();
  let at = 0;
  while (at < source.length) {
    const equals = source.indexOf('=', at);
    if (equals < 0) break;
    const name = source.slice(at, equals).trim();
    let open = equals + 1;
    while (isBlank(source.charCodeAt(open))) open += 1;
    const quote = source[open];
    if (quote !== '"' && quote !== "'") break;
    const close = source.indexOf(quote, open + 1);
    if (close < 0) break;
    const colon = name.indexOf(':');
    const local = name.slice(colon + 1);
    // `id` beside `r:id`: the plain one keeps its name.
    if (colon < 0 || !attributes.has(local)) attributes.set(local, decodeEntities(source.slice(open + 1, close)));
    at = close + 1;
  }
  return attributes;
}

function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

export function walkXml(xml: string, handler: XmlHandler): void {
  let at = 0;
  while (at < xml.length) {
    const tag = xml.indexOf('<', at);
    if (tag !== at && handler.text) {
      const text = xml.slice(at, tag < 0 ? xml.length : tag);
      if (text !== '') handler.text(decodeText(text));
    }
    if (tag < 0) return;
    const next = xml[tag + 1];
    if (next === '?') at = skipPast(xml, '?>', tag);
    else if (next === '!') at = walkDeclaration(xml, tag, handler);
    else at = walkTag(xml, tag, handler);
  }
}

function walkDeclaration(xml: string, tag: number, handler: XmlHandler): number {
  if (xml.startsWith('<!--', tag)) return skipPast(xml, '-->', tag);
  if (!xml.startsWith('<![CDATA[', tag)) throw refuseDoctype();
  const end = skipPast(xml, ']]>', tag);
  handler.text?.(xml.slice(tag + 9, end - 3).replace(/\r\n?/g, '\n'));
  return end;
}

function walkTag(xml: string, tag: number, handler: XmlHandler): number {
  const end = findTagEnd(xml, tag);
  const closing = xml[tag + 1] === '/';
  const selfClosed = !closing && xml[end - 1] === '/';
  const inner = xml.slice(tag + (closing ? 2 : 1), selfClosed ? end - 1 : end);
  const space = inner.search(/\s/);
  const qualified = space < 0 ? inner : inner.slice(0, space);
  const name = qualified.slice(qualified.indexOf(':') + 1);
  if (!closing) handler.open(name, new XmlAttributes(space < 0 ? '' : inner.slice(space)));
  if (closing || selfClosed) handler.close?.(name);
  return end + 1;
}

/** A '>' inside of an attribute's value does not end the tag. */
function findTagEnd(xml: string, tag: number): number {
  let quote = 0;
  for (let i = tag; i < xml.length; i += 1) {
    const code = xml.charCodeAt(i);
    if (quote !== 0) quote = code === quote ? 0 : quote;
    else if (code === 34 || code === 39) quote = code;
    else if (code === 62) return i;
  }
  throw refuseDamaged('a part ends inside of a tag');
}

function skipPast(xml: string, what: string, from: number): number {
  const found = xml.indexOf(what, from);
  if (found < 0) throw refuseDamaged('a part ends inside of a comment or declaration');
  return found + what.length;
}

/** Text content: line ends as XML normalises them, then entities. */
export function decodeText(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  return decodeEntities(lines);
}

const ENTITY = /&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(lt|gt|amp|quot|apos));/g;
const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(ENTITY, (whole, hex: string | undefined, decimal: string | undefined, named: string | undefined) => {
    if (named) return NAMED[named] ?? whole;
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? makeCharacter(code) : whole;
  });
}

/** U+0000 and halves of surrogate pairs are no characters: the first is left out, the others are shown as unknown. */
function makeCharacter(code: number): string {
  if (code === 0) return '';
  return code >= 0xd800 && code <= 0xdfff ? '\ufffd' : String.fromCodePoint(code);
}

const ESCAPE = /_x([0-9A-Fa-f]{4})_/g;

/** `_x000D_` is how Excel writes characters that XML cannot hold; `_x005F_` stands for an underscore before such a text. */
export function decodeEscapes(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(ESCAPE, (_, hex: string) => (hex === '0000' ? '' : String.fromCharCode(Number.parseInt(hex, 16)))).toWellFormed();
}
