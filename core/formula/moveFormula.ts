/** Rewrites a formula for another layout of the cells that it refers to. */

import { nameColumn } from '../a1/address.ts';
import type { Range } from '../grid/grid.ts';
import { type Reference, splitFormula } from './references.ts';

/** An area in the new layout. Rows are 0 for whole columns. */
export interface MovedArea extends Range {
  sheet: string;
}

/** Where an area of a sheet, all of it and in the same shape, stands now; null if nowhere. Rows are 0 for whole columns. */
export type FindArea = (sheet: string, area: Range) => MovedArea | null;

interface FormulaHome {
  /** The sheet where the formula stood, and the one where it will stand. */
  from: string;
  to: string;
}

/** Null: something that the formula refers to is not in the new layout. */
export function moveFormula(formula: string, { from, to }: FormulaHome, findArea: FindArea): string | null {
  const { literals, references } = splitFormula(formula);
  let text = '';
  for (let i = 0; i < references.length; i += 1) {
    const { before, sheet } = cutQualifier(literals[i] ?? '');
    if (sheet === null || !isPlain(before)) return null;
    // `A1:B2` is two references with a colon between them; `A1:INDEX(…)` is not known before it is computed.
    const isArea = literals[i + 1] === ':' && i + 1 < references.length;
    const first = references[i] as Reference;
    const last = isArea ? (references[i + 1] as Reference) : first;
    if (!isArea && (literals[i + 1] ?? '').startsWith(':')) return null;
    // `1:3` means whole rows, which hold more than one table has.
    if (first.column === 0 || (first.row === 0) !== (last.row === 0)) return null;
    const moved = findArea(sheet ?? from, spanAreas(first, last));
    if (!moved) return null;
    const qualifier = moved.sheet === to ? '' : `${quoteSheet(moved.sheet)}!`;
    const corners = [writeCorner(first, moved.top, moved.left), writeCorner(last, moved.bottom, moved.right)];
    text += before + qualifier + (isArea ? corners.join(':') : corners[0]);
    if (isArea) i += 1;
  }
  const rest = literals[references.length] ?? '';
  return isPlain(rest) ? text + rest : null;
}

function spanAreas(a: Reference, b: Reference): Range {
  return {
    top: Math.min(a.row, b.row),
    bottom: Math.max(a.row, b.row),
    left: Math.min(a.column, b.column),
    right: Math.max(a.column, b.column),
  };
}

function writeCorner({ rowFixed, columnFixed }: Reference, row: number, column: number): string {
  return `${columnFixed ? '$' : ''}${nameColumn(column)}${row === 0 ? '' : `${rowFixed ? '$' : ''}${row}`}`;
}

const qualified = /(?:'((?:[^']|'')+)'|([\p{L}\p{N}_.]+))!$/u;

/** Takes the sheet's name off the end. Undefined: there is none; null: it names several sheets or another file. */
function cutQualifier(literal: string): { before: string; sheet: string | null | undefined } {
  const found = qualified.exec(literal);
  if (!found) return { before: literal, sheet: literal.endsWith('!') ? null : undefined };
  const before = literal.slice(0, found.index);
  const name = found[1]?.replaceAll("''", "'") ?? found[2] ?? '';
  return { before, sheet: /[[\]:]/.test(name) || /[\]:]$/.test(before) ? null : name };
}

const texts = /"(?:[^"]|"")*"/g;
const words = /([\p{L}_\\][\p{L}\p{N}\p{M}_.\\?]*)(\(?)/gu;
const constants = new Set(['TRUE', 'FALSE', 'E']);

/** Whether nothing in it but functions and constants has a name: defined names, tables and other files stay behind. */
function isPlain(literal: string): boolean {
  const bare = literal.replaceAll(texts, '').replaceAll(/#[A-Z0-9/_]+[!?]?/gi, '');
  if (/[[\]{}'!]/.test(bare.replaceAll(/\{[^{}]*\}/g, ''))) return false;
  return [...bare.matchAll(words)].every(([, word = '', call]) => call === '(' || constants.has(word.toUpperCase()));
}

function quoteSheet(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}
