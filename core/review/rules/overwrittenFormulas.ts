import { splitFormula } from '../../formula/references.ts';
import { shiftFormula } from '../../formula/translate.ts';
import type { Draft } from '../finding.ts';
import type { Region, Reviewed } from '../region.ts';

const leastFormulas = 3;
/** A line of formulas in which few cells are constants was a line of formulas throughout. */
const constantShare = 0.2;

/** Constants between formulas that all do the same, and formulas whose result was edited. */
export function findOverwrittenFormulas({ region, labels }: Reviewed): Draft[] {
  if (!region.formulaAt) return [];
  const shapes = Array.from({ length: region.columns.length }, (_, column) =>
    Array.from({ length: region.rowCount }, (_, row) => shapeOf(region, row, column)),
  );
  const drafts: Draft[] = [];
  shapes.forEach((shape, column) => {
    const formulas = shape.filter((each) => each !== null);
    const usual = findUsual(formulas);
    const constants = shape.flatMap((each, row) => (each === null && region.columns[column]?.values[row] !== null ? [row] : []));
    if (usual !== null && constants.length > 0 && constants.length <= formulas.length * constantShare)
      for (const row of constants) drafts.push(describe(region, labels[row] ?? '', row, column, 'is a constant'));
    shape.forEach((_, row) => {
      if (region.formulaAt?.(row, column)?.isEdited) drafts.push(describe(region, labels[row] ?? '', row, column, 'was typed over'));
    });
  });
  return drafts;
}

/** The formula as it would stand in the first cell, so that copies of one formula are equal. */
function shapeOf(region: Region, row: number, column: number): string | null {
  const found = region.formulaAt?.(row, column);
  if (!found || found.isEdited) return null;
  return shiftFormula(splitFormula(found.formula), 1_000 - found.row, 500 - found.column);
}

/** Null: there are few, or they differ. */
function findUsual(shapes: string[]): string | null {
  const counts = new Map<string, number>();
  for (const shape of shapes) counts.set(shape, (counts.get(shape) ?? 0) + 1);
  const [usual] = [...counts].sort(([, a], [, b]) => b - a);
  return usual && usual[1] >= leastFormulas && usual[1] >= shapes.length * 0.8 ? usual[0] : null;
}

function describe(region: Region, label: string, row: number, column: number, how: string): Draft {
  const name = region.columns[column]?.name ?? '';
  return {
    severity: 'warning',
    message: `${[label, name].filter(Boolean).join(', ')}: the value ${how}, where the cells beside it are computed.`,
    spots: [{ row, column }],
    suggestedFix: 'Put the formula back, or note why the value is fixed.',
  };
}
