import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  writeFileSync(path, `${hideRecorder(JSON.stringify(History.fromObject(await handle.fetchHistory()), null, 1))}\n`);
}

/** Which process on which machine has recorded it, and from which folder, is nobody's business, and would differ each time. */
export function hideRecorder(text: string): string {
  return text
    .replaceAll(/"identity": "[^"]*"/g, '"identity": "recorder"')
    .replaceAll(/"\d+@[\w.]+/g, '"recorder')
    .replaceAll(/\/[^\s"()]*?\/(?=(?:activities|store|workflows)\/)/g, '');
}

export function listHistories(): { name: string; text: string }[] {
  return readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
}

export function readHistory(name: string, alter: (text: string) => string = (text) => text): proto.temporal.api.history.v1.History {
  return History.fromObject(JSON.parse(alter(readFileSync(join(folder, `${name}.json`), 'utf8'))) as Record<string, unknown>);
}

/** Runs today's workflow code over the kept history: fails when running workflows would notice the difference. */
export async function replayHistory(
  name: string,
  alter: (text: string) => string = (text) => text,
  options: { traced?: boolean; sealed?: boolean } = {},
): Promise<void> {
  const codePath = await prepareWorkflowBundle(options);
  // Spans are sent to the process that asks for them.
  const sinks = { exporter: { export: { fn() {}, callDuringReplay: false } } };
  await Worker.runReplayHistory({ workflowBundle: { codePath }, sinks }, readHistory(name, alter));
}
