import type { Finding } from '../review/finding.ts';

export type ReviewMode = 'lint' | 'agent';

export interface ReviewInput {
  /** Null: the whole workbook. */
  tableId: string | null;
  mode: ReviewMode;
  /** Let a language model weigh the findings. */
  judge: boolean;
  save: boolean;
}

export interface Coverage {
  tables: string[];
  rules: string[];
  rowsChecked: number;
  skipped: string[];
  statement: string;
}

/** Findings show cells, so a governed workbook shows the result of a review to nobody. */
export interface ReviewResult {
  target: string | null;
  findings: Finding[];
  coverage: Coverage;
  judged: boolean;
  /** Name of the saved report. */
  report: string | null;
  creditsCharged: number;
  createdAt: string;
}
