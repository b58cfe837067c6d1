/** Where set-up tells people what it is doing. */
export interface Report {
  say(line: string): void;
  /** May be called often: a terminal shows the newest line in place, a log gets one every few seconds. */
  progress(line: string): void;
}

const quietMs = 10_000;

export function createReport(stream: NodeJS.WriteStream): Report {
  let open = false;
  let lastMs = 0;
  const clear = () => {
    if (open) stream.write('\r\x1b[2K');
    open = false;
  };
  return {
    say(line) {
      clear();
      stream.write(`${line}\n`);
    },
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
