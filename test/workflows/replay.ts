import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { projectDir } from '../../store/config.ts';
import { prepareWorkflowBundle } from '../../store/temporal/bundle.ts';

/** Read and written by the messages' own methods: the SDK's `historyToJSON` fails where protobufjs is installed twice. */
const { History } = proto.temporal.api.history.v1;
const folder = join(projectDir, 'test', 'histories');

/** Keeps what a run looked like, once: later runs of the tests replay that one, not their own. */
export async function keepHistory(name: string, handle: WorkflowHandle): Promise<void> {
  const path = join(folder, `${name}.json`);
  if (existsSync(path)) return;
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(History.fromObject(await handle.fetchHistory()), null, 1);
  // Whose machine it was is nobody's business.
  writeFileSync(path, `${text.replace(/"\d+@[^"]*"/g, '"worker"')}\n`);
}

export function readHistory(name: string, alter: (text: string) => string = (text) => text): proto.temporal.api.history.v1.History {
  return History.fromObject(JSON.parse(alter(readFileSync(join(folder, `${name}.json`), 'utf8'))) as Record<string, unknown>);
}

/** Runs today's workflow code over the kept history: fails when running workflows would notice the difference. */
export async function replayHistory(name: string, alter: (text: string) => string = (text) => text): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle: { codePath: await prepareWorkflowBundle() } }, readHistory(name, alter));
}
