import type { UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { formatValue } from '../../grid/format.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { commonWords } from '../../parts/words.ts';
import { parseRange, type Range } from './a1.ts';
import { sourceWords } from './words.ts';

/** The cells of the sheet that a finding is about. */
export const cellsOf = ({ evidence }: Schemas['Finding']): Range[] => evidence.flatMap(({ cell }) => (cell && parseRange(cell)) || []);

/** What is doubtful in the tables of the file; each leads to its cells. */
export function Findings({ findings, onShow }: { findings: UseQueryResult<Schemas['Finding'][]>; onShow: (cells: Range[]) => void }) {
  const t = useWords(sourceWords);
  const { severities } = useWords(commonWords);
  return (
    <section className="findings">
      <h3>{t.findings}</h3>
      <Answer of={findings}>
        {(found) => (
          <ul className="plain-list">
            {found.map((finding) => {
              const { id, severity, message, evidence, suggested_fix: fix } = finding;
              const cells = cellsOf(finding);
              const [first] = evidence;
              return (
                <li key={id}>
                  <button type="button" className="finding" disabled={cells.length === 0} onClick={() => onShow(cells)}>
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
