import { randomUUID } from 'node:crypto';
import type { Caller } from './caller.ts';
import { book, makeBook, makeTable, query, type Story } from './story.ts';

/** Rows are added, with and without a key; one row is changed again and again. */
export async function editRows(caller: Caller): Promise<Story> {
  const workbookId = await makeBook(caller, 'Edits');
  await makeTable(caller, workbookId, '記録', [
    { name: 'mark', type: 'VARCHAR' },
    { name: 'n', type: 'BIGINT' },
  ]);
  const path = `${book(workbookId)}/tables/${encodeURIComponent('記録')}/rows`;
  await caller.post(path, { rows: [{ mark: 'counter', n: 0 }], expected_version: null });
  const keyed = new Set<string>();
  const unkeyed = { asked: new Set<string>(), acknowledged: new Set<string>() };
  let [counter, acknowledged] = [0, 0];
  return {
    name: 'edits',
    async work() {
      const marks = [randomUUID(), randomUUID()];
      await caller.post(path, { rows: marks.map((mark) => ({ mark })), expected_version: null });
      for (const mark of marks) keyed.add(mark);
      const mark = randomUUID();
      unkeyed.asked.add(mark);
      const answer = await caller.send({ method: 'POST', path, json: { rows: [{ mark }], expected_version: null } });
      if (answer && answer.status < 300) unkeyed.acknowledged.add(mark);
      counter += 1;
      await caller.post(path, { rows: [{ __svc_row_id: 1, n: counter }], expected_version: null });
      acknowledged = counter;
    },
    async findFaults() {
      // One row, as a result is told in pages.
      const [found] = await query(caller, workbookId, "SELECT string_agg(mark, ' ') AS marks, max(n)::INT AS n FROM 記録");
      const times = new Map<string, number>();
      for (const mark of String(found?.marks).split(' ')) times.set(mark, (times.get(mark) ?? 0) + 1);
      const lost = [...keyed, ...unkeyed.acknowledged].filter((mark) => !times.has(mark));
      const doubled = [...times].filter(([, count]) => count > 1).map(([mark]) => mark);
      const unknown = [...times.keys()].filter((mark) => mark !== 'counter' && !keyed.has(mark) && !unkeyed.asked.has(mark));
      const last = Number(found?.n);
      return [
        ...lost.map((mark) => `row ${mark} is lost`),
        ...doubled.map((mark) => `row ${mark} is there more than once`),
        ...unknown.map((mark) => `row ${mark} was never sent`),
        ...(last === acknowledged ? [] : [`the counter is ${last} and not ${acknowledged}`]),
      ];
    },
    count: () => keyed.size + unkeyed.acknowledged.size + acknowledged,
  };
}
