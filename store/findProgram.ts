import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';

/** The first program of that name in the folders; a name that is a path stands for itself. */
export function findProgram(name: string, searchPath: string[]): string | null {
  return searchPath.map((dir) => resolve(dir, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
