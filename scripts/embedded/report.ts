import { wantsJson } from '../../store/config.ts';

type Level = keyof typeof levels;

/** Where set-up tells what it is doing. */
export interface Report {
  say(line: string, level?: Level): void;
  /** May be called often: a terminal shows the newest line in place, a log gets one every few seconds. */
  progress(line: string): void;
}

/** All that a supervisor writes, for people or as a log of JSON lines. */
export interface Output extends Report {
  /** Lines for people, which in a log are one line with these fields. */
  show(lines: string[], entry: Record<string, unknown> & { msg: string }): void;
  /** A line that one of our own processes has written. */
  passOn(part: string, line: string): void;
}

export function openOutput(): Output {
  return wantsJson() ? createJsonOutput(process.stdout) : createReport(process.stdout);
}

const quietMs = 10_000;
/** As in the logs of the parts. */
const levels = { info: 30, warn: 40, error: 50 };

/** Every line is one JSON object, whoever wrote it. */
function createJsonOutput(stream: NodeJS.WritableStream): Output {
  let lastMs = 0;
  const write = (part: string, level: Level, entry: Record<string, unknown>) =>
    stream.write(`${JSON.stringify({ level: levels[level], time: new Date().toISOString(), part, ...entry })}\n`);
  const output: Output = {
    say(text, level = 'info') {
      const msg = text.trim();
      if (msg !== '') write('start', level, { msg });
    },
    show: (_lines, entry) => write('start', 'info', entry),
    passOn(part, line) {
      if (isJsonObject(line)) stream.write(`${line}\n`);
      else if (line.trim() !== '') write(part, 'warn', { msg: line });
    },
    progress(line) {
      if (Date.now() - lastMs < quietMs) return;
      lastMs = Date.now();
      output.say(line);
    },
  };
  return output;
}

function isJsonObject(line: string): boolean {
  if (!line.startsWith('{')) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

export function createReport(stream: NodeJS.WriteStream): Output {
  let open = false;
  let lastMs = 0;
  const clear = () => {
    if (open) stream.write('\r\x1b[2K');
    open = false;
  };
  const say = (line: string) => {
    clear();
    stream.write(`${line}\n`);
  };
  return {
    say,
    show(lines) {
      for (const line of lines) say(line);
    },
    passOn: (part, line) => say(`${part.padEnd(6)} | ${line}`),
    progress(line) {
      if (stream.isTTY) {
        clear();
        stream.write(line.slice(0, (stream.columns || 80) - 1));
        open = true;
      } else if (Date.now() - lastMs >= quietMs) {
        lastMs = Date.now();
        stream.write(`${line}\n`);
      }
    },
  };
}

/** Repeats a progress line each second until the work is done. */
export async function showProgress<T>(report: Report, describe: (seconds: number) => string, work: Promise<T>): Promise<T> {
  const beganMs = Date.now();
  const timer = setInterval(() => report.progress(describe(Math.round((Date.now() - beganMs) / 1000))), 1000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
