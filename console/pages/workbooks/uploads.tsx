import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { api, ask, type Schemas, upload as send } from '../../api/client.ts';
import { awaitJob, cancelJob, measureProgress } from '../../api/jobs.ts';
import { addressOf } from '../../shell/router.tsx';

export interface Upload {
  id: number;
  filename: string;
  workbookId: string | null;
  state: 'waiting' | 'sending' | 'working' | 'done' | 'failed' | 'cancelled';
  /** From 0 to 1; null: not known. */
  progress: number | null;
  artifacts: string[];
  error: unknown;
}

interface Uploads {
  list: Upload[];
  /** Without a workbook, one is made for the files. */
  add(files: File[], workbookId: string | null): void;
  cancel(id: number): void;
  clear(): void;
}

const UploadContext = createContext<Uploads | null>(null);
/** As many as are sent at a time; the service takes turns by itself. */
const atOnce = 3;
let lastId = 0;

/** Uploads go on while other pages are looked at. */
export function UploadProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [list, setList] = useState<Upload[]>([]);
  const running = useRef(new Map<number, { abort: AbortController; jobId: string | null }>());
  const change = useCallback(
    (id: number, part: Partial<Upload>) =>
      setList((before) => before.map((each) => (each.id === id && each.state !== 'cancelled' ? { ...each, ...part } : each))),
    [],
  );

  // What is not sent yet would be lost with the page; what is, goes on without it.
  const isSending = list.some(({ state }) => state === 'waiting' || state === 'sending');
  useEffect(() => {
    if (!isSending) return;
    const hold = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', hold);
    return () => removeEventListener('beforeunload', hold);
  }, [isSending]);

  const uploads = useMemo<Uploads>(() => {
    const run = async (upload: Upload, file: File, findWorkbook: () => Promise<string>) => {
      const abort = running.current.get(upload.id)?.abort;
      if (!abort || abort.signal.aborted) return;
      try {
        change(upload.id, { state: 'sending' });
        const workbookId = await findWorkbook();
        change(upload.id, { workbookId });
        const tell = (progress: number) => change(upload.id, { progress });
        const { job_id: jobId, artifacts } = await sendFile(workbookId, file, tell, abort.signal);
        if (artifacts) return change(upload.id, { state: 'done', artifacts });
        running.current.set(upload.id, { abort, jobId: jobId ?? null });
        const job = await awaitJob(
          jobId as string,
          ({ progress }) => change(upload.id, { state: 'working', progress: measureProgress(progress) }),
          abort.signal,
        );
        if (job.status === 'failed') return change(upload.id, { state: 'failed', error: new Error(job.error) });
        change(upload.id, { state: 'done', artifacts: listTables(job.kind === 'ingest' ? job.result : undefined) });
      } catch (error) {
        if (!abort.signal.aborted) change(upload.id, { state: 'failed', error });
      } finally {
        running.current.delete(upload.id);
        void queries.invalidateQueries();
      }
    };
    return {
      list,
      add(files, workbookId) {
        const made = files.map((file) => {
          lastId += 1;
          running.current.set(lastId, { abort: new AbortController(), jobId: null });
          return { id: lastId, filename: file.name, workbookId, state: 'waiting', progress: null, artifacts: [], error: null } as Upload;
        });
        setList((before) => [...made, ...before]);
        const findWorkbook = once(async () => workbookId ?? (await makeWorkbook(files[0]?.name ?? 'Workbook')));
        const waiting = made.map((upload, i) => () => run(upload, files[i] as File, findWorkbook));
        const next = async (): Promise<void> => {
          for (let start = waiting.shift(); start; start = waiting.shift()) await start();
        };
        for (let i = 0; i < atOnce; i++) void next();
      },
      cancel(id) {
        const current = running.current.get(id);
        change(id, { state: 'cancelled' });
        current?.abort.abort();
        if (current?.jobId) void cancelJob(current.jobId).catch(() => {});
        running.current.delete(id);
      },
      clear: () => setList((before) => before.filter(({ state }) => ['waiting', 'sending', 'working'].includes(state))),
    };
  }, [list, change, queries]);
  return <UploadContext.Provider value={uploads}>{children}</UploadContext.Provider>;
}

export function useUploads(): Uploads {
  const uploads = useContext(UploadContext);
  if (!uploads) throw new Error('outside of the uploads');
  return uploads;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

async function makeWorkbook(filename: string): Promise<string> {
  const title = filename.replace(/\.[^.]+$/, '').slice(0, 200) || filename;
  return (await ask(api.POST('/api/v1/workbooks', { body: { title } }))).id;
}

interface Sent {
  job_id?: string;
  /** Of a file that the workbook has already. */
  artifacts?: string[];
}

async function sendFile(workbookId: string, file: File, tell: (progress: number) => void, signal: AbortSignal): Promise<Sent> {
  const form = new FormData();
  form.set('async', 'true');
  form.set('file', file);
  const answer = (await send(`/api/v1${addressOf('workbooks', workbookId, 'sources')}`, form, tell, signal)) as
    | Schemas['SourceUploadResponse']
    | Schemas['JobAccepted'];
  return 'source' in answer ? { artifacts: listTables(answer) } : answer;
}

const listTables = (result: Schemas['SourceUploadResponse'] | undefined) =>
  (result?.artifacts ?? []).filter(({ state }) => state !== 'archived').map(({ name }) => name);
