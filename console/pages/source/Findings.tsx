import type { UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { formatValue } from '../../grid/format.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { commonWords } from '../../parts/words.ts';
import { parseRange, type Range } from './a1.ts';
import type { FileFinding } from './asks.ts';
import { sourceWords } from './words.ts';

/** The cells of the sheet that a finding is about. */
export const cellsOf = ({ evidence }: Schemas['Finding']): Range[] => evidence.flatMap(({ cell }) => (cell && parseRange(cell)) || []);

interface FindingsProps {
  findings: UseQueryResult<FileFinding[]>;
  onShow: (cells: Range[], sheet: string | null) => void;
}

/** What is doubtful in the tables of the file; each leads to its cells. */
export function Findings({ findings, onShow }: FindingsProps) {
  const t = useWords(sourceWords);
  const { severities } = useWords(commonWords);
  return (
    <section className="findings">
      <h3>{t.findings}</h3>
      <Answer of={findings}>
        {(found) => (
          <ul className="plain-list">
            {found.map((finding) => {
              const { id, severity, message, evidence, suggested_fix: fix, sheet } = finding;
              const cells = cellsOf(finding);
              const [first] = evidence;
              return (
                <li key={id}>
                  <button type="button" className="finding" disabled={cells.length === 0} onClick={() => onShow(cells, sheet)}>
                    <span className={`mark ${severity}`}>{severities[severity]}</span> {message}{' '}
                    {first?.cell && (
                      <small className="dim">
                        {first.cell}: {formatValue(first.value)}
                      </small>
                    )}
                  </button>
                  {fix && <p className="dim">{fix}</p>}
                </li>
              );
            })}
            {found.length === 0 && <li className="dim">{t.noFindings}</li>}
          </ul>
        )}
      </Answer>
    </section>
  );
}
