// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Turns a parsed `<c>` element into a value, a text, a formula, or a blank cell with a visible style. */

import { CellKind } from '../../core/grid/grid.ts';
import type { BlankRuns } from './blankRuns.ts';
import { CellBuffer } from './cellBuffer.ts';
import { CellMarkup, Type } from './cellMarkup.ts';
import { isoToMs, serialToMs } from './dates.ts';
import { refuseDamaged, refuseTooLarge } from './fileRefusals.ts';
import { FormulaBook } from './formulaBook.ts';
import type { FormulaBudget } from './formulaBudget.ts';
import type { ReadLimits } from './readLimits.ts';
import { decodeBytes, joinRuns, SLASH } from './scanText.ts';
import type { StringPool } from './stringPool.ts';
import { NumberMeaning, type StyleBook } from './styles.ts';
import { decodeText, parseAttributes } from './xml.ts';

export interface CellRoom {
  cells: number;
  /** What is said of more. */
  refusal: string;
}

export interface CellContext {
  styles: StyleBook;
  date1904: boolean;
  limits: ReadLimits;
  room: CellRoom;
  /** If all are gathered before any is handed over. */
  expectedCells?: number;
  pool: StringPool;
  /** Null when blank cells are not wanted. */
  blanks: BlankRuns | null;
  keepFormulas: boolean;
  formulaBudget: FormulaBudget;
}

export class CellScanner extends CellMarkup {
  readonly cells: CellBuffer;
  readonly formulas: FormulaBook;
  private count = 0;

  constructor(private readonly context: CellContext) {
    super();
    this.cells = new CellBuffer(context.expectedCells);
    this.formulas = new FormulaBook(context.formulaBudget);
  }

  /** `at` is after `<c`; returns the end of the element, or -1 when it is not complete yet. */
  read(b: Buffer, at: number, end: number): number {
    const done = this.readElement(b, at, end);
    if (done < 0) return -1;
    const { limits } = this.context;
    if (this.column > limits.columns) throw refuseTooLarge(`A sheet reaches beyond column ${limits.columns}.`);
    if (this.row > limits.rows) throw refuseTooLarge(`A sheet reaches beyond row ${limits.rows}.`);
    this.finish(b);
    return done;
  }

  private finish(b: Buffer): void {
    const { context, row, column } = this;
    const styleId = context.styles.indexOf[this.style] ?? 0;
    context.blanks?.passCell(row, column);
    const waitsFor = this.formulaTag >= 0 && context.keepFormulas ? this.takeFormula(b) : null;
    const formulaId = typeof waitsFor === 'number' ? waitsFor : -1;
    const hasFormula = waitsFor !== null;
    let kind: number = CellKind.text;
    let number = 0;
    let text = -1;
    if (this.start >= 0) {
      switch (this.type) {
        case Type.number:
          if (!Number.isFinite(this.number)) text = this.takeText(b);
          else {
            number = this.number;
            kind = CellKind.number;
            const meaning = context.styles.meanings[styleId]!;
            if (meaning !== NumberMeaning.number) {
              const ms = serialToMs(number, context.date1904, meaning);
              if (!Number.isNaN(ms)) {
                number = ms;
                kind = CellKind.date;
              }
            }
          }
          break;
        case Type.shared:
          text = context.pool.takeShared(this.number);
          if (text < 0) throw refuseDamaged(`a cell in row ${row} points to a text that is not there`);
          break;
        case Type.boolean:
          kind = CellKind.boolean;
          number = b[this.start] === 0x31 || b[this.start] === 0x74 ? 1 : 0;
          break;
        case Type.date:
          number = isoToMs(b.toString('latin1', this.start, this.end));
          if (Number.isNaN(number)) {
            number = 0;
            text = this.takeText(b);
          } else kind = CellKind.date;
          break;
        default:
          if (this.type === Type.error) kind = CellKind.error;
          text = this.takeText(b);
      }
    }
    if (kind === CellKind.text && (text < 0 || text === context.pool.empty)) {
      if (!hasFormula) {
        if (context.blanks && context.styles.visible[styleId]) context.blanks.add(row, column, column, styleId);
        return;
      }
      text = context.pool.takeText('');
    }
    this.count += 1;
    if (this.count > context.room.cells) throw refuseTooLarge(context.room.refusal);
    const cell = this.cells.add(row, column, kind, number, text, styleId, formulaId);
    if (typeof waitsFor === 'string') this.formulas.waitFor(waitsFor, cell);
  }

  private takeText(b: Buffer): number {
    const { pool } = this.context;
    if (this.decoded !== null) return pool.takeText(this.decoded);
    if (this.type === Type.number) return pool.takeText(b.toString('utf8', this.start, this.end));
    if (!this.plain) return pool.takeText(decodeBytes(b, this.start, this.end));
    return this.start === this.end ? -1 : pool.takeBytes(b, this.start, this.end, this.hash);
  }

  /** Number of the formula; the key of a shared one that is not defined yet; null for none. */
  private takeFormula(b: Buffer): number | string | null {
    const { formulas, row, column } = this;
    const selfClosed = b[this.formulaTagEnd - 1] === SLASH;
    const text = selfClosed ? '' : readFormulaText(b.toString('utf8', this.formulaTagEnd + 1, this.formulaEnd));
    if (this.formulaTagEnd - this.formulaTag < 4) return text === '' ? null : formulas.addText(text);
    const attributes = parseAttributes(b.toString('utf8', this.formulaTag, this.formulaTagEnd));
    const reference = attributes.get('ref') ?? '';
    switch (attributes.get('t')) {
      case 'shared': {
        const key = attributes.get('si') ?? '';
        if (text !== '') {
          formulas.defineShared(key, row, column, text);
          return formulas.addText(text);
        }
        const id = formulas.addShared(key, row, column);
        return id < 0 ? key : id;
      }
      case 'array':
        if (text === '') return null;
        formulas.addArray(reference, text, 'array');
        return formulas.addText(text);
      case 'dataTable': {
        const formula = nameDataTable(attributes);
        formulas.addArray(reference, formula, 'dataTable');
        return formulas.addText(formula);
      }
      default:
        return text === '' ? null : formulas.addText(text);
    }
  }
}

function readFormulaText(xml: string): string {
  return xml.includes('<') ? joinRuns(`<t>${xml}`) : decodeText(xml);
}

/** As Excel shows it: {=TABLE(row input, column input)}. */
function nameDataTable(attributes: Map<string, string>): string {
  const [first, second] = [attributes.get('r1') ?? '', attributes.get('r2') ?? ''];
  const isOn = (name: string): boolean => attributes.get(name) === '1' || attributes.get(name) === 'true';
  if (isOn('dt2D')) return `TABLE(${first},${second})`;
  return isOn('dtr') ? `TABLE(${first},)` : `TABLE(,${first})`;
}
