import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { api, ask } from '../../api/client.ts';
import { Unreachable } from '../../api/problem.ts';
import { useWords } from '../../i18n/language.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { inWorkbook } from '../workbook/asks.ts';
import { EditQueue } from './editQueue.ts';
import type { RowStore } from './rowStore.ts';
import { tableWords } from './words.ts';

export interface Editing {
  queue: EditQueue;
  /** Takes back the last edit of this page that stands; null where there is none. */
  undo: (() => Promise<void>) | null;
  undoOp(opId: number): Promise<void>;
  deleteRows(rowIds: number[]): Promise<void>;
  /** Reads the table and what hangs on it anew. */
  reload(): void;
}

export function useEditing(workbookId: string, name: string, store: RowStore): Editing {
  const t = useWords(tableWords);
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const [done, setDone] = useState<number[]>([]);
  const current = useRef(store);
  current.current = store;

  const reload = useCallback(() => {
    current.current.refresh();
    void queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
  }, [queries, workbookId]);

  const queue = useMemo(
    () =>
      new EditQueue(workbookId, name, ({ batch, version, opId, isAlone }) => {
        setDone((before) => [...before, opId]);
        const { edits, inserts } = batch;
        if (isAlone && inserts.length === 0) {
          current.current.apply(edits, version);
          void queries.invalidateQueries({ queryKey: inWorkbook(workbookId, 'table', name) });
        } else reload();
      }),
    [workbookId, name, queries, reload],
  );
  useSyncExternalStore(queue.subscribe, queue.snapshot);

  // The browser asks before a page with unsaved cells is left; they would be found again, but only in this tab.
  useEffect(() => {
    const hold = (event: BeforeUnloadEvent) => {
      if (queue.state !== 'saved') event.preventDefault();
    };
    addEventListener('beforeunload', hold);
    return () => removeEventListener('beforeunload', hold);
  }, [queue]);

  // What waited for the connection goes when it is back.
  useEffect(() => {
    const send = () => {
      if (queue.error instanceof Unreachable) queue.retry();
    };
    addEventListener('online', send);
    return () => removeEventListener('online', send);
  }, [queue]);

  return useMemo<Editing>(() => {
    const path = { workbook_id: workbookId, name };
    const last = done.at(-1);
    const undoOp = async (opId: number) => {
      try {
        await ask(
          api.POST('/api/v1/workbooks/{workbook_id}/ops/{op_id}/undo', {
            params: { path: { workbook_id: workbookId, op_id: opId } },
          }),
        );
        setDone((before) => before.filter((each) => each !== opId));
        say(t.undone);
      } catch (error) {
        fail(error);
      }
      reload();
    };
    return {
      queue,
      reload,
      undoOp,
      undo: last === undefined ? null : () => undoOp(last),
      async deleteRows(rowIds) {
        try {
          const { op_id: opId, deleted } = await ask(
            api.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/delete', {
              params: { path },
              body: { expected_version: current.current.version, row_ids: rowIds, rebase: true },
            }),
          );
          setDone((before) => [...before, opId]);
          say(t.deleted(deleted), { label: t.undo, run: () => void undoOp(opId) });
        } catch (error) {
          fail(error);
        }
        reload();
      },
    };
  }, [queue, reload, workbookId, name, done, say, fail, t]);
}
