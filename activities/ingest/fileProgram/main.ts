import { setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { openOneConnection } from '../../../store/duckdb/openOneConnection.ts';
import { serveRequests } from '../../../store/fileProcesses/child/serveRequests.ts';
import { serveCopies, startCopyThread } from './copyThread.ts';
import { explainShortage } from './explainShortage.ts';
import { handleFiles } from './fileWork.ts';
import { openOutFolder } from './outFolder.ts';
import type { StepRequest } from './requests.ts';

/**
 * The process that reads files which strangers wrote. It reaches neither the database nor the blob store: files come in by
 * their path, and what it makes of them goes to a folder.
 */

const [, program = '', , outDir = '/out'] = process.argv;
const reportEveryMs = 200;
/** Requests go first. */
const niceness = 2;

if (isMainThread) serveFiles();
else serveCopies(outDir);

function serveFiles(): void {
  // Before anything starts a thread, since threads have a priority of their own and take over that of who starts them.
  try {
    setPriority(niceness);
  } catch {
    // Not permitted on some machines.
  }
  serveRequests<StepRequest>(async (send) => {
    let nextReport = 0;
    const handlers = handleFiles({
      engine: await openOneConnection(512),
      blobs: openOutFolder(outDir),
      startCopyThread: () => startCopyThread(program, outDir),
      step(done, total) {
        const now = Date.now();
        if (now < nextReport && done !== total) return;
        nextReport = now + reportEveryMs;
        send({ note: { done, total } });
      },
    });
    return (request) => (handlers[request.op] as (request: StepRequest) => Promise<unknown>)(request);
  }, explainShortage);
}
