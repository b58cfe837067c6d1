import { spawnSync } from 'node:child_process';
import { describeReport } from './rounds/rounds.ts';
import { scenarios } from './rounds/scenarios.ts';

/**
 * `npm run faults [scenario…] [--rounds=200]`: starts the service, lets people work, and harms it. Fails where an acknowledged
 * write was lost, something was done twice or left halfway, or the service was not ready again within ten seconds.
 */
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const rounds = Number(process.argv.find((word) => word.startsWith('--rounds='))?.slice(9) ?? 200);
const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

// Disks that are mounted for a scenario are to be seen by nobody else, and to go with this process.
const own = ['unshare', '--mount', '--propagation', 'private'];
if (!process.env.SVC_FAULTS_OWN_MOUNTS && spawnSync(own[0] as string, [...own.slice(1), 'true']).status === 0) {
  const again = [...own.slice(1), process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status } = spawnSync(own[0] as string, again, { stdio: 'inherit', env: { ...process.env, SVC_FAULTS_OWN_MOUNTS: 'yes' } });
  process.exit(status ?? 1);
}

let [passed, failed, skipped] = [0, 0, 0];
const chosen = Object.entries(scenarios).filter(([name]) => wanted.length === 0 || wanted.includes(name));
if (chosen.length === 0) throw new Error(`There is no such scenario; there are ${Object.keys(scenarios).join(', ')}.`);
for (const [name, run] of chosen) {
  say(name);
  const report = await run(rounds, say);
  if (report === null) {
    console.log(`${name}: SKIPPED, this machine has no way to do it (see test/faults/rounds/scenarios.ts)`);
    skipped += 1;
    continue;
  }
  const late = report.readyMs.filter((ms) => ms > 10_000).length;
  if (late > 0) report.faults.push(`not ready within ten seconds in ${late} of ${report.rounds} rounds`);
  console.log(describeReport(name, report));
  if (report.faults.length > 0) failed += 1;
  else passed += 1;
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
