import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../store/findProgram.ts';

const installedIn = ['/usr/lib/libreoffice/program', '/opt/libreoffice/program', '/Applications/LibreOffice.app/Contents/MacOS'];

/** LibreOffice, on the PATH or where it is usually installed. Null, and said aloud: there is none. */
export function findLibreOffice(): string | null {
  const found = findProgram('soffice', [...(process.env.PATH ?? '').split(':'), ...installedIn]);
  if (found === null)
    console.warn('SKIPPED: files are not saved by LibreOffice: soffice is not there (apt install libreoffice-calc-nogui)');
  return found;
}

/** Opens a workbook and saves it in each of the formats, one after the other; the last is what comes back. */
export async function saveWithLibreOffice(office: string, folder: string, bytes: Buffer, formats = ['xlsx']): Promise<Buffer> {
  let path = join(folder, 'opened.xlsx');
  writeFileSync(path, bytes);
  // With settings of its own, or it would hand the file to one that is running.
  const profile = `-env:UserInstallation=file://${join(folder, 'libreoffice-profile')}`;
  for (const format of formats) {
    const to = join(folder, 'saved');
    await promisify(execFile)(office, [profile, '--headless', '--convert-to', format, '--outdir', to, path], { timeout: 180_000 });
    path = join(to, `opened.${format}`);
  }
  return readFileSync(path);
}
