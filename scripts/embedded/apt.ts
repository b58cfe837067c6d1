import { inheritEnv } from '../../store/childEnv.ts';
import { type Finished, runCommand } from './command.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import { type Report, showProgress } from './report.ts';

export interface AptOptions {
  report: Report;
  registry: ProcessRegistry;
  signal?: AbortSignal;
}

/** Package lists may be missing, as in most containers, or too old to find the packages by. */
export async function installPackages(aptGet: string, names: string[], options: AptOptions): Promise<Finished> {
  const install = () => apt(aptGet, ['install', '-y', '--no-install-recommends', ...names], options);
  const first = await install();
  if (first.ok || options.signal?.aborted) return first;
  const updated = await apt(aptGet, ['update'], options);
  return updated.ok ? install() : updated;
}

function apt(aptGet: string, args: string[], { report, registry, signal }: AptOptions): Promise<Finished> {
  let last = '';
  const env = inheritEnv({ DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' });
  // Another apt may be running, as after a machine's first start.
  const work = runCommand({
    program: aptGet,
    args: ['-o', 'DPkg::Lock::Timeout=60', ...args],
    env,
    registry,
    signal,
    onLine: (line) => {
      last = line;
    },
  });
  return showProgress(report, (seconds) => `apt-get ${args[0]}: ${seconds} s${last ? ` (${last.trim()})` : ''}`, work);
}
