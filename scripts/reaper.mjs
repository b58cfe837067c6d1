// Ends what the supervisor has started when the supervisor itself was killed. It is told the processes by an argument and
// then by IPC, each message being the whole list; the channel closes when the supervisor is gone, however it went.
// Plain JavaScript without imports of ours, so that it starts fast and stays small: it only waits.
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

let told = JSON.parse(process.argv[2] ?? '{ "processes": [], "folders": [] }');

process.on('message', (message) => {
  told = message;
});
process.on('disconnect', endAll);
// The supervisor may be gone before we got here; that event is not repeated.
if (process.connected) process.send({ type: 'ready' });
else setImmediate(endAll);

async function endAll() {
  const orders = [...new Set(told.processes.map(({ order }) => order))].sort((a, b) => a - b);
  for (const order of orders) await Promise.all(told.processes.filter((each) => each.order === order).map(endProcess));
  for (const folder of told.folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

// A signal to everything (systemd does that) must leave the reaper until the supervisor is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

async function endProcess({ pid, stamp, steps }) {
  if (readStamp(pid) !== stamp) return;
  for (const { signal, waitMs } of steps) {
    if (readStamp(pid) !== stamp) break;
    if (signal) sendSignal(pid, signal);
    for (const untilMs = Date.now() + waitMs; readStamp(pid) === stamp && Date.now() < untilMs; ) await delay(50);
  }
  if (readStamp(pid) === stamp) sendSignal(pid, 'SIGKILL');
  sendSignal(-pid, 'SIGKILL');
}

function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

// The same as in embedded/processes.ts, which says why.
function readStamp(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return state === 'Z' || state === 'X' ? null : `${bootId}/${rest[18]}`;
  } catch {
    if (process.platform === 'linux') return null;
  }
  try {
    process.kill(pid, 0);
    return 'running';
  } catch {
    return null;
  }
}
