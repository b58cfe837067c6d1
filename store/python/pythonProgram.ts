import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir } from '../config.ts';
import { bind } from '../duckdb/sandbox/isolation.ts';

/** A python3 of this machine, and its parts that an isolated process needs. */
export interface PythonProgram {
  executable: string;
  /** Its own modules, with the folder of those that are native. */
  stdlib: string;
  nativeModules: string;
  /** Shared libraries that it loads, the loader among them. */
  libraries: string[];
  /** Where pandas, pyarrow and numpy are. */
  packagesDir: string;
}

const run = promisify(execFile);
const describeTimeoutMs = 60_000;

/** The code that runs inside, as files. */
export const childDir = join(projectDir, 'store/python/child');

/** Modules whose libraries are loaded on first use only. */
const asks = `
import ctypes, json, sys, sysconfig
sys.path.append(sys.argv[1])
for name in ('pandas', 'pyarrow', 'pyarrow.compute', 'numpy', 'bz2', 'ctypes', 'decimal', 'hashlib', 'lzma', 'sqlite3', 'ssl', 'uuid', 'zlib', 'zoneinfo'):
    try:
        __import__(name)
    except ImportError:
        if name in ('pandas', 'pyarrow', 'numpy'):
            raise
class Info(ctypes.Structure):
    _fields_ = [('address', ctypes.c_void_p), ('name', ctypes.c_char_p)]
libraries = []
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t, ctypes.c_void_p)
def visit(info, size, data):
    libraries.append((info.contents.name or b'').decode())
    return 0
ctypes.CDLL(None).dl_iterate_phdr(visit, None)
paths = sysconfig.get_paths()
print(json.dumps({
    'executable': sys.executable, 'stdlib': paths['stdlib'], 'nativeModules': sysconfig.get_config_var('DESTSHARED') or paths['platstdlib'],
    'libraries': libraries}))
`;

/** Throws if its packages cannot be loaded. */
export async function describePython(python: string, packagesDir: string): Promise<PythonProgram> {
  const { stdout } = await run(python, ['-S', '-s', '-B', '-c', asks, packagesDir], { cwd: '/', env: {}, timeout: describeTimeoutMs });
  const said = JSON.parse(stdout) as Pick<PythonProgram, 'executable' | 'stdlib' | 'nativeModules' | 'libraries'>;
  const isOutside = (path: string) => path.startsWith('/') && !path.startsWith(`${packagesDir}/`) && !path.startsWith(`${said.stdlib}/`);
  return { ...said, packagesDir, libraries: [...new Set(said.libraries.filter(isOutside))] };
}

/** Where the parts are inside; paths of this machine are not seen there. */
export const insideHome = '/app/python';
const insideLibraries = '/app/lib';

/** The options of bubblewrap that make the program visible. */
export function bindPython(program: PythonProgram, childCopy: string): string[] {
  const { executable, stdlib, nativeModules, libraries, packagesDir } = program;
  // Under the same names as on this machine, by which Python finds them: lib or lib64, and python3.11.
  const home = join(insideHome, basename(dirname(stdlib)), basename(stdlib));
  const otherPackages = ['site-packages', 'dist-packages'].filter((name) => existsSync(join(stdlib, name)));
  const isInStdlib = nativeModules.startsWith(`${stdlib}/`);
  return [
    ...bind(executable, `${insideHome}/bin/python3`),
    ...bind(stdlib, home),
    ...(isInStdlib ? [] : bind(nativeModules, `${home}/lib-dynload`)),
    // Packages that are installed for others.
    ...otherPackages.flatMap((name) => ['--tmpfs', `${home}/${name}`, '--remount-ro', `${home}/${name}`]),
    ...bind(packagesDir, '/app/packages'),
    ...bind(childCopy, '/app/child'),
    // The loader is asked for by its path, the others are searched for.
    ...libraries.flatMap((path) => bind(path, basename(path).startsWith('ld-') ? path : `${insideLibraries}/${basename(path)}`)),
    '--ro-bind-try',
    '/usr/share/zoneinfo',
    '/usr/share/zoneinfo',
    '--setenv',
    'LD_LIBRARY_PATH',
    insideLibraries,
  ];
}
