/** Keeps track of the files that a long task writes. */
export interface FileWatch {
  /** Called before each file: sends a heartbeat; throws if the task was cancelled. */
  step(): void;
  wrote(key: string): void;
  dropAll(): Promise<void>;
}
