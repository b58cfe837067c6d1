import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { projectDir } from '../../store/config.ts';

export interface SourceText {
  path: string;
  text: string;
}

/** The files of some folders of the project that people write. */
export async function readSources(dirs: string[]): Promise<SourceText[]> {
  const found = await Promise.all(dirs.map((dir) => readdir(join(projectDir, dir), { recursive: true, withFileTypes: true })));
  const files = found.flat().filter((entry) => entry.isFile() && /\.(ts|mts|mjs|json|sql|md|yaml)$/.test(entry.name));
  return Promise.all(
    files.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(projectDir, path), text: await readFile(path, 'utf8') };
    }),
  );
}

const sqlText =
  /['"`][^'"`\n]*\b(SELECT\s+\S|INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\S+\s+SET|CREATE\s+(TEMP|TABLE|VIEW|OR)|COPY\s*\(|ORDER\s+BY|WHERE\s+\S|LIMIT\s+\$?\d|LIMIT\s+\$\{)/;
const sqlImport =
  /\b(quoteName|quoteText|jsonExpression|rowJson|cellText|cleanCast|withRelations?|runAndReadAll)\b|^import (?!type).*from '(@duckdb\/|pg'|drizzle-orm)/;

/** The lines of a source that write SQL, or take what is needed to write it. Comments may speak of it. */
export function findSql({ text }: Pick<SourceText, 'text'>): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
  return code.split('\n').filter((line) => sqlText.test(line) || sqlImport.test(line));
}
