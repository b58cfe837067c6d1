/** A process that is up, as the supervisor sees it. */
export interface RunningProcess {
  pid: number;
  /** How it ended, in words. Never rejects. */
  ended: Promise<string>;
  stop(): Promise<void>;
  /** Immediately, without a graceful stop. */
  kill(): void;
  /** Last lines of its log, for when it died. */
  readTail(): string[];
}
