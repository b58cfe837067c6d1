import { refuseTooLarge } from './fileRefusals.ts';
import type { ReadLimits } from './readLimits.ts';

/** Cells of array formulas that get their formula; further ones have their values only. */
const ARRAY_CELLS = 16_000_000;
/** References in shared formulas, which are kept apart for each formula while its sheet is read. */
const REFERENCES = 2_000_000;

const WITHOUT_FORMULAS = 'Send the sheets with values in place of formulas.';

/** What the formulas of a file may cost, all sheets together: a long formula that many cells share grows with every cell. */
export class FormulaBudget {
  arrayCells = ARRAY_CELLS;
  private characters = 0;
  private references = 0;

  constructor(private readonly limits: Pick<ReadLimits, 'formulaCharacters'>) {}

  takeCharacters(count: number): void {
    this.characters += count;
    if (this.characters <= this.limits.formulaCharacters) return;
    const most = Math.floor(this.limits.formulaCharacters / 1024 ** 2);
    throw refuseTooLarge(
      `The formulas of the file, written out for each cell, have more than ${most} million characters.`,
      WITHOUT_FORMULAS,
    );
  }

  takeReferences(count: number): void {
    this.references += count;
    if (this.references <= REFERENCES) return;
    throw refuseTooLarge(`The shared formulas of the file have more than ${REFERENCES} references.`, WITHOUT_FORMULAS);
  }
}
