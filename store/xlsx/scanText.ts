// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Byte-level helpers of the scanners: tags, texts, rich text. Positions past the end mean "not complete yet". */

import { refuseDoctype } from './fileRefusals.ts';
import { decodeEscapes, decodeText } from './xml.ts';

export const LT = 0x3c;
export const GT = 0x3e;
export const SLASH = 0x2f;
export const BANG = 0x21;
export const QUESTION = 0x3f;
export const AMP = 0x26;
export const CR = 0x0d;
export const UNDERSCORE = 0x5f;
export const LOWER_X = 0x78;

/** Position of the '>' that ends the tag at `at`, or -1. */
export function findTagEnd(b: Buffer, at: number, end: number): number {
  let quote = 0;
  for (let i = at; i < end; i += 1) {
    const ch = b[i]!;
    if (quote !== 0) {
      if (ch === quote) quote = 0;
    } else if (ch === GT) return i;
    else if (ch === 0x22 || ch === 0x27) quote = ch;
  }
  return -1;
}

/** Past a comment, processing instruction or CDATA section at `at`; -1 when its end is not there yet. Refuses a DOCTYPE. */
export function skipDeclaration(b: Buffer, at: number, end: number): number {
  let close = '?>';
  if (b[at + 1] === BANG) {
    if (at + 9 > end && !mayBecomeDeclaration(b, at, end)) throw refuseDoctype();
    if (at + 9 > end) return -1;
    if (b[at + 2] === 0x2d && b[at + 3] === 0x2d) close = '-->';
    else if (b.toString('latin1', at, at + 9) === '<![CDATA[') close = ']]>';
    else throw refuseDoctype();
  }
  const found = b.subarray(0, end).indexOf(close, at + 2, 'latin1');
  return found < 0 ? -1 : found + close.length;
}

function mayBecomeDeclaration(b: Buffer, at: number, end: number): boolean {
  const seen = b.toString('latin1', at, end);
  return '<!--'.startsWith(seen.slice(0, 4)) || '<![CDATA['.startsWith(seen);
}

export function isSpace(ch: number): boolean {
  return ch === 0x20 || ch === 0x0a || ch === 0x0d || ch === 0x09;
}

/** What ends a tag's name. */
export function isNameEnd(ch: number): boolean {
  return ch === GT || ch === SLASH || isSpace(ch);
}

/** The bytes between tags as text, as XML and Excel mean it. */
export function decodeBytes(b: Buffer, start: number, end: number): string {
  return decodeEscapes(decodeText(b.toString('utf8', start, end)));
}

/**
 * The text of an `<si>` or `<is>` element, given everything between its tags. Runs are joined; the readings above
 * kanji (`rPh`) are no part of the text.
 */
export function joinRuns(xml: string): string {
  let text = '';
  let at = 0;
  let insideText = false;
  let phonetic = 0;
  while (at < xml.length) {
    const tag = xml.indexOf('<', at);
    if (insideText && phonetic === 0) text += decodeText(xml.slice(at, tag < 0 ? xml.length : tag));
    if (tag < 0) break;
    if (xml.startsWith('<!', tag) || xml.startsWith('<?', tag)) {
      const [from, close] = xml.startsWith('<![CDATA[', tag) ? [9, ']]>'] : xml.startsWith('<!--', tag) ? [4, '-->'] : [2, '?>'];
      if (from === 2 && xml[tag + 1] === '!') throw refuseDoctype();
      const end = xml.indexOf(close, tag + from);
      if (from === 9 && insideText && phonetic === 0) text += xml.slice(tag + 9, end < 0 ? xml.length : end);
      at = end < 0 ? xml.length : end + close.length;
      continue;
    }
    const end = xml.indexOf('>', tag);
    if (end < 0) break;
    const closing = xml[tag + 1] === '/';
    const selfClosed = xml[end - 1] === '/';
    const name = localName(xml, tag + (closing ? 2 : 1), end);
    if (name === 't') insideText = !closing && !selfClosed;
    else if (name === 'rPh' && !selfClosed) phonetic += closing ? -1 : 1;
    at = end + 1;
  }
  return decodeEscapes(text);
}

function localName(xml: string, start: number, end: number): string {
  let stop = start;
  let from = start;
  for (; stop < end; stop += 1) {
    const ch = xml.charCodeAt(stop);
    if (ch === 0x3a) from = stop + 1;
    else if (isNameEnd(ch)) break;
  }
  return xml.slice(from, stop);
}
