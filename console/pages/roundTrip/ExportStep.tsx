import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { download, type Schemas } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { commonWords } from '../../parts/words.ts';
import { addressOf } from '../../shell/router.tsx';
import { inWorkbook, useTables, useWorkbook } from '../workbook/asks.ts';
import { useBaseTables } from './useBaseTables.ts';
import { roundTripWords } from './words.ts';

export function ExportStep({ workbookId }: { workbookId: string }) {
  const t = useWords(roundTripWords);
  const tables = useTables(workbookId);
  return (
    <section>
      <h2>{t.out}</h2>
      <p className="dim">{t.outHint}</p>
      <Answer of={tables}>{({ tables }) => <TableChoice workbookId={workbookId} tables={tables} />}</Answer>
    </section>
  );
}

function TableChoice({ workbookId, tables }: { workbookId: string; tables: Schemas['TableSummary'][] }) {
  const t = useWords(roundTripWords);
  const common = useWords(commonWords);
  const { formatNumber } = useSpeech();
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const { data: workbook } = useWorkbook(workbookId);
  const isBase = useBaseTables(workbookId);
  const [chosen, setChosen] = useState<string[]>([]);
  const own = tables.filter(({ name }) => isBase(name));
  if (own.length === 0) return <p>{t.noTables}</p>;
  const toggle = (name: string, isOn: boolean) =>
    setChosen((before) => (isOn ? [...before, name] : before.filter((each) => each !== name)));
  const send = async () => {
    try {
      await download(`/api/v1${addressOf('workbooks', workbookId)}/export`, `${workbook?.title ?? 'export'}.xlsx`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ tables: chosen, format: 'xlsx', record_branch: true } satisfies Schemas['ExportRequest']),
      });
      say(t.exported);
    } catch (error) {
      fail(error);
    }
    void queries.invalidateQueries({ queryKey: inWorkbook(workbookId, 'branches') });
  };
  return (
    <>
      <ul className="plain-list columns">
        {own.map(({ name, row_count: rows }) => (
          <li key={name}>
            <label className="row tight">
              <input type="checkbox" checked={chosen.includes(name)} onChange={(event) => toggle(name, event.target.checked)} />
              {name} <small className="dim">{common.rows(formatNumber(rows))}</small>
            </label>
          </li>
        ))}
      </ul>
      <button type="button" className="main" disabled={chosen.length === 0} onClick={() => void send()}>
        {t.export}
      </button>
    </>
  );
}
