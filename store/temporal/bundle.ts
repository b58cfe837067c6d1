import { join } from 'node:path';
import { keepBuild } from '../builds/keepBuild.mjs';
import { projectDir } from '../config.ts';

/** Path of the workflows' code as one bundle. */
export async function prepareWorkflowBundle(): Promise<string> {
  const dir = await keepBuild({ name: 'workflows', sources: ['core', 'workflows'], make: bundleWorkflows });
  return join(dir, 'workflows.js');
}

async function bundleWorkflows(): Promise<Record<string, string>> {
  // Loaded only where something is to be bundled: it brings a whole compiler.
  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: console.warn, error: console.error };
  const { code } = await bundleWorkflowCode({ workflowsPath: join(projectDir, 'workflows', 'index.ts'), logger: quiet });
  return { 'workflows.js': code };
}
