import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { projectDir } from '../../store/config.ts';

/** Fewer files are not a whole run, and what they take says little. */
const minFiles = 80;
const listed = 15;

/** Says at the end of a whole run which files took longest, loading and set-up included: what to mend, and what to start first. */
export default class FileTimes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < minFiles) return;
    const times = modules.map((module) => {
      const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
      return {
        path: relative(projectDir, module.moduleId),
        seconds: (prepareDuration + setupDuration + collectDuration + duration) / 1000,
      };
    });
    times.sort((a, b) => b.seconds - a.seconds);
    const total = times.reduce((sum, { seconds }) => sum + seconds, 0);
    console.log(`The longest of ${times.length} files, which took ${Math.round(total)} s together:`);
    for (const { path, seconds } of times.slice(0, listed)) console.log(`  '${path}': ${Math.round(seconds)},`);
  }
}
