/** Chooses the confidence below which a sheet is doubtful, and says what that choice is worth on sheets it has not seen. */

import { PARTS } from './templates.ts';

export interface Judged {
  part: number;
  /** Of the largest table; null where the sheet stays raw or holds none, which flags it whatever the threshold is. */
  confidence: number | null;
  isRight: boolean;
}

export interface Cost {
  sheets: number;
  wrong: number;
  /** Wrong sheets without a flag, as a share of all. */
  missed: number;
  /** Right sheets with a flag, as a share of the right ones. */
  alarmed: number;
  /** Of the sheets with a flag, those that are wrong. */
  deserved: number;
}

/** Right sheets that may be flagged. */
const MAX_ALARMED = 0.1;

export const isFlagged = ({ confidence }: Judged, threshold: number): boolean => confidence === null || confidence < threshold;

export function weighThreshold(sheets: Judged[], threshold: number): Cost {
  const right = sheets.filter(({ isRight }) => isRight);
  const flagged = sheets.filter((sheet) => isFlagged(sheet, threshold));
  const alarms = flagged.filter(({ isRight }) => isRight).length;
  const wrong = sheets.length - right.length;
  return {
    sheets: sheets.length,
    wrong,
    missed: (wrong - (flagged.length - alarms)) / Math.max(1, sheets.length),
    alarmed: alarms / Math.max(1, right.length),
    deserved: (flagged.length - alarms) / Math.max(1, flagged.length),
  };
}

/** The threshold that misses least among those that alarm little enough; the lowest of several. */
export function chooseThreshold(sheets: Judged[]): number {
  let best = { threshold: 0, missed: Number.POSITIVE_INFINITY };
  for (let step = 0; step <= 100; step += 1) {
    const threshold = step / 100;
    const { missed, alarmed } = weighThreshold(sheets, threshold);
    if (alarmed <= MAX_ALARMED && missed < best.missed) best = { threshold, missed };
  }
  return best.threshold;
}

/** What each part costs with the threshold chosen on the other parts, and all parts together. */
export function rotate(sheets: Judged[]): { parts: { threshold: number; cost: Cost }[]; all: Cost } {
  const parts = Array.from({ length: PARTS }, (_, part) => {
    const threshold = chooseThreshold(sheets.filter((sheet) => sheet.part !== part));
    return { threshold, own: sheets.filter((sheet) => sheet.part === part) };
  });
  // With each confidence measured from the threshold of its part, one threshold serves for all.
  const shifted = parts.flatMap(({ threshold, own }) =>
    own.map((sheet) => ({ ...sheet, confidence: sheet.confidence === null ? null : sheet.confidence - threshold })),
  );
  return {
    parts: parts.map(({ threshold, own }) => ({ threshold, cost: weighThreshold(own, threshold) })),
    all: weighThreshold(shifted, 0),
  };
}
