/** Keeps account of the files that a long piece of work writes. */
export interface FileWatch {
  /** Before each file: says that the work is alive, stops it when it is cancelled. */
  step(): void;
  wrote(key: string): void;
  dropAll(): Promise<void>;
}
