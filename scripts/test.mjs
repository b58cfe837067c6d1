// npm test: install what is missing, run vitest with any further arguments, and end with `N passed, N failed`.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { projectDir } from '../store/projectDir.mjs';
import { bootstrap } from './bootstrap.mjs';

await bootstrap();

// Everything the tests start inherits this, so that what is left at the end can be found, whoever its parent was.
const mark = `SVC_TEST_RUN=${randomUUID()}`;
const [markName, markValue] = mark.split('=');
// All temporary files of the run are in one folder, so that none stay behind. PostgreSQL's user must pass through it.
const runDir = mkdtempSync(join(tmpdir(), 'svc-test-'));
chmodSync(runDir, 0o711);
const outputFile = join(runDir, 'results.json');

const vitest = spawn(
  process.execPath,
  [
    join(projectDir, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    '--reporter=./test/setup/fileTimes.ts',
    `--outputFile.json=${outputFile}`,
    ...process.argv.slice(2),
  ],
  // A process group of its own: a Ctrl-C reaches us alone, and we see to it that all of them end.
  {
    cwd: projectDir,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
    env: { ...process.env, TMPDIR: runDir, [markName]: markValue },
  },
);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    vitest.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
    setTimeout(() => vitest.kill('SIGKILL'), 15_000).unref();
  });
}

const code = await new Promise((done) => {
  vitest.once('error', () => done(1));
  vitest.once('exit', (exitCode, signal) => done(exitCode ?? (signal === 'SIGINT' ? 130 : 1)));
});
// Its workers, should they have outlived it.
sendSignal(-vitest.pid, 'SIGKILL');
await endLeftovers();
const { passed, failed, skipped } = readResults();
rmSync(runDir, { recursive: true, force: true, maxRetries: 5 });
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(code === 0 && failed > 0 ? 1 : code);

/** A file that could not be loaded, an error outside of any test, or a crash counts as a failure of its own. */
function readResults() {
  let results;
  try {
    results = JSON.parse(readFileSync(outputFile, 'utf8'));
  } catch {
    return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  }
  const broken = results.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = results.numFailedTests + broken.length;
  return {
    passed: results.numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: results.numPendingTests + results.numTodoTests,
  };
}

/** The reapers and supervisors that tests have started end by themselves; they get some time, then they are ended. */
async function endLeftovers() {
  for (const untilMs = Date.now() + 20_000; Date.now() < untilMs; await delay(100)) {
    if (findMarked().length === 0) return;
  }
  for (const pid of findMarked()) {
    console.error(`process ${pid} was left over; ending it`);
    sendSignal(pid, 'SIGKILL');
  }
}

function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

function findMarked() {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 1 && pid !== process.pid && isMarked(pid));
  } catch {
    return [];
  }
}

function isMarked(pid) {
  try {
    // A zombie has no environment any more.
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark);
  } catch {
    return false;
  }
}
