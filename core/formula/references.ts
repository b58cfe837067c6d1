/**
 * Finds the cell references in the text of a formula. Everything else (strings, sheet names, structured references,
 * functions, names, error constants) is copied unchanged, which replacing by a pattern cannot do.
 */

import { MAX_COLUMNS, MAX_ROWS, parseColumn } from '../a1/address.ts';

/** One end of a reference; row or column is 0 in a reference to whole columns or rows. */
export interface Reference {
  row: number;
  column: number;
  rowFixed: boolean;
  columnFixed: boolean;
}

/** `literals[i]`, then `references[i]`, and so on; there is one literal more than references. */
export interface SplitFormula {
  literals: string[];
  references: Reference[];
}

const CELL = /^(\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7})$/;
const COLUMN = /^(\$?)([A-Za-z]{1,3})$/;
const ROW = /^(\$?)([0-9]{1,7})$/;
/** The longest run of characters that names, numbers and references consist of. */
const WORD = /[\p{L}\p{N}\p{M}_.$\\?]+/uy;
const ERROR_CONSTANT = /#[A-Z0-9/_]*[!?]?/iy;

export function splitFormula(formula: string): SplitFormula {
  const split: SplitFormula = { literals: [], references: [] };
  let copied = 0;
  let at = 0;
  while (at < formula.length) {
    const ch = formula.charAt(at);
    if (ch === '"' || ch === "'") at = skipQuoted(formula, at, ch);
    else if (ch === '[') at = skipBrackets(formula, at);
    else if (ch === '#') at = matchEnd(ERROR_CONSTANT, formula, at);
    else {
      const end = matchEnd(WORD, formula, at);
      if (end === at) {
        at += 1;
        continue;
      }
      const found = readReference(formula, at, end);
      for (const { start, stop, reference } of found.parts) {
        split.literals.push(formula.slice(copied, start));
        split.references.push(reference);
        copied = stop;
      }
      at = found.end;
    }
  }
  split.literals.push(formula.slice(copied));
  return split;
}

interface FoundReference {
  parts: { start: number; stop: number; reference: Reference }[];
  /** Where to read on. */
  end: number;
}

function readReference(formula: string, start: number, end: number): FoundReference {
  const word = formula.slice(start, end);
  const next = formula[end];
  // `LOG10(` is a function, `Q1!` a sheet, `Table1[` a table.
  if (next === '(' || next === '!' || next === '[') return { parts: [], end };
  // In `1E+3` the part after the sign belongs to the number.
  if (/^[0-9.]+[eE]$/.test(word) && (next === '+' || next === '-')) return { parts: [], end: matchEnd(WORD, formula, end + 1) };
  const cell = CELL.exec(word);
  if (cell) {
    const reference = makeReference(Number(cell[4]), parseColumn(cell[2] ?? ''), cell[3] === '$', cell[1] === '$');
    return { parts: reference ? [{ start, stop: end, reference }] : [], end };
  }
  const first = parseWhole(word);
  if (!first || next !== ':') return { parts: [], end };
  // A:C and 1:3 are references only as pairs; Jan:Dec!A1 names two sheets.
  const end2 = matchEnd(WORD, formula, end + 1);
  const second = parseWhole(formula.slice(end + 1, end2));
  if (!second || formula[end2] === '!' || (first.row === 0) !== (second.row === 0)) return { parts: [], end };
  return {
    parts: [
      { start, stop: end, reference: first },
      { start: end + 1, stop: end2, reference: second },
    ],
    end: end2,
  };
}

function parseWhole(word: string): Reference | null {
  const column = COLUMN.exec(word);
  if (column) return makeReference(0, parseColumn(column[2] ?? ''), false, column[1] === '$');
  const row = ROW.exec(word);
  return row ? makeReference(Number(row[2]), 0, row[1] === '$', false) : null;
}

function makeReference(row: number, column: number, rowFixed: boolean, columnFixed: boolean): Reference | null {
  const inside = row >= 0 && row <= MAX_ROWS && column >= 0 && column <= MAX_COLUMNS && (row > 0 || column > 0);
  return inside ? { row, column, rowFixed, columnFixed } : null;
}

/** Past the closing quote; a doubled quote is part of the text. */
function skipQuoted(formula: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < formula.length) {
    if (formula[at] === quote) {
      if (formula[at + 1] !== quote) return at + 1;
      at += 1;
    }
    at += 1;
  }
  return at;
}

/** Past the closing bracket of `[Book1]` or `[[#This Row],[Net]]`; `'` escapes a bracket in a column name. */
function skipBrackets(formula: string, start: number): number {
  let depth = 0;
  for (let at = start; at < formula.length; at += 1) {
    const ch = formula[at];
    if (ch === "'") at += 1;
    else if (ch === '[') depth += 1;
    else if (ch === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return formula.length;
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
