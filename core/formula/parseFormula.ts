/** The text of a formula as a tree. Null for what is not understood: references to other files, tables by name, unions. */

import { parseArea } from '../a1/address.ts';
import type { Range } from '../grid/grid.ts';

export type FormulaNode =
  | { kind: 'constant'; value: number | string | boolean | null }
  | { kind: 'error'; code: string }
  /** `sheet` is null for the sheet that the formula stands on. */
  | { kind: 'area'; sheet: string | null; range: Range }
  | { kind: 'name'; name: string }
  | { kind: 'call'; name: string; args: FormulaNode[] }
  | { kind: 'operation'; operator: string; args: FormulaNode[] }
  | { kind: 'array'; rows: FormulaNode[][] };

const TOKEN =
  /\s*(?:("(?:[^"]|"")*")|((?:'(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!)?(\$?[A-Za-z]{1,3}\$?\d{1,7}(?::\$?[A-Za-z]{1,3}\$?\d{1,7})?|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}|\$?\d{1,7}:\$?\d{1,7})(?![\p{L}\p{N}_.(!])|(#(?:N\/A|[A-Z0-9/]+[!?]))|(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([\p{L}_\\][\p{L}\p{N}_.\\]*)|(<>|<=|>=|[-+*/^&=<>%(),;{}]))/uy;

interface Token {
  kind: 'text' | 'area' | 'error' | 'number' | 'word' | 'mark';
  text: string;
  sheet: string | null;
}

export function parseFormula(formula: string): FormulaNode | null {
  const tokens = readTokens(formula.replace(/^=/, '').trim());
  if (!tokens) return null;
  const parser = new Parser(tokens);
  try {
    const node = parser.readExpression(0);
    return parser.isDone() ? node : null;
  } catch (error) {
    if (error instanceof NotUnderstood) return null;
    throw error;
  }
}

class NotUnderstood extends Error {}

function readTokens(text: string): Token[] | null {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const m = TOKEN.exec(text);
    if (!m) return null;
    const [, quoted, sheet, area, error, number, word, mark] = m;
    if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted.slice(1, -1).replaceAll('""', '"'), sheet: null });
    else if (area !== undefined) tokens.push({ kind: 'area', text: area, sheet: sheet === undefined ? null : nameSheet(sheet) });
    else if (error !== undefined) tokens.push({ kind: 'error', text: error, sheet: null });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, sheet: null });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, sheet: null });
    else tokens.push({ kind: 'mark', text: mark ?? '', sheet: null });
    if (/^\s*$/.test(text.slice(TOKEN.lastIndex))) break;
  }
  return tokens;
}

function nameSheet(qualifier: string): string {
  const name = qualifier.slice(0, -1);
  return name.startsWith("'") ? name.slice(1, -1).replaceAll("''", "'") : name;
}

/** How tightly each operator binds, from the loosest. */
const BINDING: Record<string, number> = {
  '=': 1,
  '<>': 1,
  '<': 1,
  '>': 1,
  '<=': 1,
  '>=': 1,
  '&': 2,
  '+': 3,
  '-': 3,
  '*': 4,
  '/': 4,
  '^': 5,
};

/** A formula deeper than this is not written by people, and would exhaust the stack. */
const MAX_DEPTH = 200;

class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly tokens: Token[]) {}

  isDone(): boolean {
    return this.at >= this.tokens.length;
  }

  readExpression(least: number): FormulaNode {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new NotUnderstood();
    let left = this.readOperand();
    for (;;) {
      const operator = this.peek();
      const binding = operator === null ? undefined : BINDING[operator];
      if (operator === null || binding === undefined || binding <= least) break;
      this.at += 1;
      left = { kind: 'operation', operator, args: [left, this.readExpression(binding)] };
    }
    this.depth -= 1;
    return left;
  }

  /** The sign binds more tightly than a power: -2^2 is 4 in a sheet. */
  private readOperand(): FormulaNode {
    const sign = this.peek();
    if (sign === '-' || sign === '+') {
      this.at += 1;
      const operand = this.readOperand();
      return sign === '-' ? { kind: 'operation', operator: 'negate', args: [operand] } : operand;
    }
    let node = this.readPrimary();
    while (this.peek() === '%') {
      this.at += 1;
      node = { kind: 'operation', operator: '%', args: [node] };
    }
    return node;
  }

  private readPrimary(): FormulaNode {
    const token = this.tokens[this.at];
    if (!token) throw new NotUnderstood();
    this.at += 1;
    switch (token.kind) {
      case 'text':
        return { kind: 'constant', value: token.text };
      case 'number':
        return { kind: 'constant', value: Number(token.text) };
      case 'error':
        return { kind: 'error', code: token.text };
      case 'area': {
        const range = parseArea(token.text);
        if (!range) throw new NotUnderstood();
        return { kind: 'area', sheet: token.sheet, range };
      }
      case 'word':
        return this.readWord(token.text);
      default:
        return this.readMark(token.text);
    }
  }

  private readWord(word: string): FormulaNode {
    if (this.peek() === '(') {
      this.at += 1;
      const name = word.toUpperCase().replace(/^_XLFN\.|^_XLWS\./g, '');
      return { kind: 'call', name, args: this.readArguments() };
    }
    if (/^true$/i.test(word)) return { kind: 'constant', value: true };
    return /^false$/i.test(word) ? { kind: 'constant', value: false } : { kind: 'name', name: word };
  }

  private readArguments(): FormulaNode[] {
    const args: FormulaNode[] = [];
    if (this.take(')')) return args;
    for (;;) {
      const next = this.peek();
      args.push(next === ',' || next === ')' ? { kind: 'constant', value: null } : this.readExpression(0));
      if (this.take(')')) return args;
      if (!this.take(',')) throw new NotUnderstood();
    }
  }

  private readMark(mark: string): FormulaNode {
    if (mark === '(') {
      const inner = this.readExpression(0);
      if (!this.take(')')) throw new NotUnderstood();
      return inner;
    }
    if (mark !== '{') throw new NotUnderstood();
    const rows: FormulaNode[][] = [[]];
    for (;;) {
      rows.at(-1)?.push(this.readOperand());
      if (this.take('}')) return { kind: 'array', rows };
      if (this.take(';')) rows.push([]);
      else if (!this.take(',')) throw new NotUnderstood();
    }
  }

  private peek(): string | null {
    const token = this.tokens[this.at];
    return token?.kind === 'mark' ? token.text : null;
  }

  private take(mark: string): boolean {
    if (this.peek() !== mark) return false;
    this.at += 1;
    return true;
  }
}
