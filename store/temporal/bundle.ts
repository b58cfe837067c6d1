import { createRequire } from 'node:module';
import { join } from 'node:path';
import { keepBuild } from '../builds/keepBuild.mjs';
import { type Config, projectDir } from '../config.ts';
import { failureConverterPath } from './payloads.ts';

/** What is bundled with the workflows: spans where traces are sent, sealed failures where payloads are encrypted. */
interface BundleKind {
  traced?: boolean;
  sealed?: boolean;
}

export function bundleKindOf({ tracesUrl, temporal }: Pick<Config, 'tracesUrl' | 'temporal'>): BundleKind {
  return { traced: tracesUrl !== null, sealed: temporal.keys.length > 0 };
}

/** Path of the workflows' code as one bundle. */
export async function prepareWorkflowBundle(kind: BundleKind = {}): Promise<string> {
  const name = [...(kind.traced ? ['traced'] : []), ...(kind.sealed ? ['sealed'] : []), 'workflows'].join('-');
  const dir = await keepBuild({ name, sources: ['core', 'workflows', 'store/temporal'], make: () => bundleWorkflows(kind) });
  return join(dir, 'workflows.js');
}

async function bundleWorkflows({ traced, sealed }: BundleKind): Promise<Record<string, string>> {
  // Loaded only where something is to be bundled: it brings a whole compiler.
  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: console.warn, error: console.error };
  const workflowInterceptorModules = traced
    ? [createRequire(import.meta.url).resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors')]
    : [];
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(projectDir, 'workflows', 'index.ts'),
    logger: quiet,
    workflowInterceptorModules,
    ...(sealed ? { failureConverterPath } : {}),
  });
  return { 'workflows.js': code };
}
