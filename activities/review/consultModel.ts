import type { ReviewMode } from '../../core/jobs/reviewJobs.ts';
import type { Finding } from '../../core/review/finding.ts';
import { askForFindings, askForVerdicts, type TableSample } from '../../core/review/model/prompts.ts';
import { applyVerdicts, readFindings } from '../../core/review/model/readAnswers.ts';
import type { ModelConfig } from '../../store/config.ts';
import { askModel, ModelUnavailable } from '../../store/model/askModel.ts';
import type { ReadTable } from './readTable.ts';

/** What of a table a model is shown. */
const most = { rows: 40, columns: 30, letters: 200 };

export interface Consulted {
  findings: Finding[];
  judged: boolean;
  /** What the coverage says of it. */
  statement: string;
}

/** The first rows of a table: the model sees what whoever asked may see. */
export function sampleTable({ visible, columns, rowIds, rows }: ReadTable): TableSample {
  const shown = columns.slice(0, most.columns);
  return {
    table: visible.at.table.name,
    columns: shown.map(({ name, type }) => ({ name, type })),
    rowIds: rowIds.slice(0, most.rows),
    // A text that is cut would be cited as cut, and be taken for wrong.
    rows: rows.slice(0, most.rows).map((row) => row.slice(0, shown.length).map((value) => (isLong(value) ? null : value))),
  };
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.length > most.letters;
}

/** Asks a language model: with `agent` to look at the tables, else to weigh the findings. Without an answer the findings stay as they are. */
export async function consultModel(
  config: ModelConfig | null,
  mode: ReviewMode,
  found: { findings: Finding[]; samples: TableSample[]; rules: string | null },
  signal?: AbortSignal,
): Promise<Consulted> {
  const { findings, samples, rules } = found;
  if (config === null) return { findings, judged: false, statement: 'No language model is configured, so the rules alone were applied.' };
  try {
    const ask = async ({ system, user }: { system: string; user: string }) => {
      const messages = [
        { role: 'system' as const, content: system },
        { role: 'user' as const, content: user },
      ];
      return askModel(config, messages, signal);
    };
    if (mode === 'lint') {
      if (findings.length === 0) return { findings, judged: false, statement: 'There was nothing for the language model to weigh.' };
      return {
        findings: applyVerdicts(await ask(askForVerdicts(findings)), findings),
        judged: true,
        statement: 'A language model weighed the findings.',
      };
    }
    const asked = askForFindings(samples, rules);
    const read = readFindings(await ask(asked), asked.shown);
    const weighed = findings.length === 0 ? findings : applyVerdicts(await ask(askForVerdicts(findings)), findings);
    const rowsShown = asked.shown.reduce((sum, { rowIds }) => sum + rowIds.length, 0);
    const left = read.dropped === 0 ? '' : ` ${read.dropped} of its findings cited cells that are not so, and were left out.`;
    return {
      findings: [...weighed, ...read.findings],
      judged: true,
      statement: `A language model looked at ${rowsShown} rows of ${asked.shown.length} tables.${left}`,
    };
  } catch (error) {
    if (!(error instanceof ModelUnavailable)) throw error;
    return { findings, judged: false, statement: `The language model was of no help: ${error.message}. The rules alone were applied.` };
  }
}
