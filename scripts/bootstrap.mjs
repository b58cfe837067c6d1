// Set-up that must work on a bare checkout: plain JavaScript, nothing installed yet.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { projectDir } from '../store/projectDir.mjs';

const neededNode = [20, 19];
const lockPath = join(projectDir, 'package-lock.json');
const modulesDir = join(projectDir, 'node_modules');
const wantsJson = process.env.SVC_LOG_FORMAT?.trim().toLowerCase() === 'json';
const stampPath = join(modulesDir, '.installed-lock');

/** Everything until the project's own TypeScript can run. Ends the process with a clear message when it cannot. */
export async function bootstrap() {
  try {
    checkNode();
    watchNpm();
    if (!isInstalled()) await installInTurn();
  } catch (error) {
    say(error.message, console.error);
    process.exit(1);
  }
}

async function installInTurn() {
  const release = await waitForTurn();
  try {
    // Another start may have done it while we waited.
    if (!isInstalled()) await install();
  } finally {
    release();
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > neededNode[0] || (major === neededNode[0] && minor >= neededNode[1])) return;
  throw new Error(`Node.js ${neededNode.join('.')} or newer is needed; this is ${process.versions.node} (${process.execPath}).`);
}

/**
 * When npm is killed, neither it nor the shell between passes the signal on, and we would keep running unnoticed. So when our
 * parent is gone we stop, as when a terminal is closed.
 */
function watchNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const readParents = () => `${process.ppid} ${readText(`/proc/${process.ppid}/stat`)?.replace(/^.*\) \S+ (\d+) .*$/s, '$1')}`;
  const parents = readParents();
  const timer = setInterval(() => {
    if (readParents() === parents) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGHUP');
  }, 1000);
  timer.unref();
}

function isInstalled() {
  const hash = hashLock();
  if (readText(stampPath) === hash) return true;
  if (!matchesLock()) return false;
  writeFileSync(stampPath, hash);
  return true;
}

function hashLock() {
  return createHash('sha256')
    .update(readText(lockPath) ?? '')
    .digest('hex');
}

/** Someone may have installed by hand: npm leaves a list of what it put there, written last. */
function matchesLock() {
  const installed = readJson(join(modulesDir, '.package-lock.json'))?.packages;
  const wanted = readJson(lockPath)?.packages;
  if (!installed || !wanted) return false;
  return Object.entries(wanted).every(([path, { version, optional, peer }]) => {
    if (path === '' || installed[path]?.version === version) return true;
    // Optional ones are for other platforms.
    return (optional || peer) && !installed[path];
  });
}

async function install() {
  const total = Object.keys(readJson(lockPath)?.packages ?? {}).length - 1;
  const show = createProgress();
  show(`Installing dependencies (npm ci, up to ${total} packages)`, true);
  const beganMs = Date.now();
  let fetched = 0;
  const timer = setInterval(
    () => show(`Installing dependencies: ${fetched} downloads, ${Math.round((Date.now() - beganMs) / 1000)} s`),
    1000,
  );
  const count = () => fetched++;
  let { code, said } = await runNpm(['ci'], count);
  // A lock made against a registry that lacks packages for other platforms lacks them too, and npm ci refuses it.
  // npm install follows the same lock and only leaves it as it is.
  if (code !== 0 && said.some((line) => line.includes('EUSAGE'))) ({ code, said } = await runNpm(['install', '--no-save'], count));
  clearInterval(timer);
  if (code !== 0) throw new Error(`npm ci failed:\n${pickErrors(said).join('\n')}`);
  writeFileSync(stampPath, hashLock());
  show(`Dependencies installed in ${Math.round((Date.now() - beganMs) / 1000)} s`, true);
}

/** Picks the error out of npm's output, which has warnings before it and long explanations after it. */
function pickErrors(said) {
  const errors = said.filter((line) => line.startsWith('npm error'));
  return errors.length > 0 ? errors.slice(0, 20) : said.slice(-20);
}

/** Ctrl-C reaches npm by itself; a signal to us alone is passed on. */
function runNpm(command, onFetched) {
  const beside = join(dirname(process.execPath), 'npm');
  const program = existsSync(beside) ? beside : 'npm';
  // Tests, and the tools that set up the embedded servers, are dev dependencies.
  const child = spawn(program, [...command, '--include=dev', '--loglevel=http', '--no-audit', '--no-fund'], {
    cwd: projectDir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const passOn = (signal) => {
    child.kill(signal);
    child.once('close', () => process.exit(signal === 'SIGINT' ? 130 : 143));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, passOn);
  const said = [];
  const onLine = (line) => {
    // At this log level npm names every package it fetches or finds in its cache.
    if (/^npm http (fetch|cache)/.test(line)) onFetched();
    else if (said.length < 1000) said.push(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      lines.forEach(onLine);
    });
  }
  return new Promise((done, reject) => {
    child.once('error', (error) =>
      reject(new Error(`npm could not be started (${error.message}). It comes with Node.js; put it on the PATH.`)),
    );
    child.once('close', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, passOn);
      done({ code, said });
    });
  });
}

/** Two starts in one checkout must not both run npm ci. The lock is not in node_modules, which npm ci empties. */
async function waitForTurn() {
  const key = createHash('sha256').update(projectDir).digest('hex').slice(0, 16);
  const path = join(tmpdir(), `workbook-data-service-install-${userInfo().uid}-${key}`);
  for (let said = false; ; ) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      const release = () => rmSync(path, { force: true });
      process.once('exit', release);
      return release;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = Number(readText(path));
    if (holder && !isAlive(holder)) rmSync(path, { force: true });
    else if (!said) say(`Another start (pid ${holder}) is installing the dependencies; waiting for it`);
    said = true;
    await delay(300);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** In place on a terminal, every ten seconds in a log. */
function createProgress() {
  let lastMs = Date.now();
  return (line, always = false) => {
    if (process.stdout.isTTY && !wantsJson) process.stdout.write(`\r\x1b[2K${line}${always ? '\n' : ''}`);
    else if (always || Date.now() - lastMs >= 10_000) {
      lastMs = Date.now();
      say(line);
    }
  };
}

/** As scripts/embedded/report.ts does it once the dependencies are there. */
function say(line, write = console.log) {
  write(wantsJson ? JSON.stringify({ level: 30, time: new Date().toISOString(), part: 'start', msg: line }) : line);
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
