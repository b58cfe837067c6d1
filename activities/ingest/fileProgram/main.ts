import { setPriority } from 'node:os';
import { openOneConnection } from '../../../store/duckdb/openOneConnection.ts';
import { openChannel } from '../../../store/duckdb/sandbox/child/channel.ts';
import { describeFault, type FileReply } from '../../../store/fileProcesses/fileProcess.ts';
import { endWithParent } from './endWithParent.ts';
import { explainShortage } from './explainShortage.ts';
import { handleFiles } from './fileWork.ts';
import { openOutFolder } from './outFolder.ts';
import type { StepRequest } from './requests.ts';

/**
 * The process that reads files which strangers wrote. It reaches neither the database nor the blob store: files come in by
 * their path, and what it makes of them goes to a folder.
 */

const [, outDir = '/out'] = process.argv.slice(2);
const reportEveryMs = 200;
/** Requests go first. */
const niceness = 2;

// Before anything starts a thread, since threads have a priority of their own and take over that of who starts them.
try {
  setPriority(niceness);
} catch {
  // Not permitted on some machines.
}

endWithParent();
const channel = openChannel();
const engine = await openOneConnection(512);
let nextReport = 0;
const handlers = handleFiles({
  engine,
  blobs: openOutFolder(outDir),
  step(done, total) {
    const now = Date.now();
    if (now < nextReport && done !== total) return;
    nextReport = now + reportEveryMs;
    channel.send({ note: { done, total } });
  },
});

async function answer(request: StepRequest): Promise<void> {
  try {
    const handle = handlers[request.op] as (request: StepRequest) => Promise<unknown>;
    const value = await handle(request);
    if (Buffer.isBuffer(value)) reply({ ok: true, value: null }, value);
    else reply({ ok: true, value });
  } catch (error) {
    reply(describeFault(explainShortage(error)));
  }
}

function reply(header: FileReply, body?: Buffer): void {
  channel.send(header, body);
}

channel.serve((request) => answer(request as StepRequest));
