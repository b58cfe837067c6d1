import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectDir } from '../../store/config.ts';
import { run } from './commands.ts';

/** Where a client is made and used: the contract and `sales.csv` are in it. */
export interface Workplace {
  folder: string;
  /** The served contract, as a file. */
  contract: string;
  /** Kept between runs: programs of the generators. */
  tools: string;
  env: Record<string, string>;
}

export interface Generator {
  name: string;
  /** Programs that must be on the machine. */
  needs: string[];
  generate(place: Workplace): Promise<void>;
  /** With the strictest settings that the language has. */
  compile(place: Workplace): Promise<unknown>;
  /** Uploads a file, adds a row, asks a question. Returns what it printed. */
  use(place: Workplace): Promise<string>;
}

const versions = { openapiGenerator: '7.17.0', oapiCodegen: 'v2.8.1', openapiPythonClient: '0.29.1', mypy: '1.20.1' };

const story = (name: string) => join(projectDir, 'test/clients/stories', name);
const bin = (name: string) => join(projectDir, 'node_modules/.bin', name);

const strictTypescript = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    allowImportingTsExtensions: true,
    // The checks are for what was generated, not for the packages that it uses.
    skipLibCheck: true,
  },
  include: ['story.ts', 'service*'],
};

/** A folder with a story and a strict configuration, where the project's own packages are found. */
async function openTypescript({ folder }: Workplace, program: string): Promise<void> {
  await copyFile(story(program), join(folder, 'story.ts'));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(strictTypescript));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await run('ln', ['-sfn', join(projectDir, 'node_modules'), 'node_modules'], { cwd: folder });
}

const compileTypescript = ({ folder }: Workplace) => run(bin('tsc'), ['-p', '.'], { cwd: folder });
const useTypescript = ({ folder, env }: Workplace) => run(bin('tsx'), ['story.ts'], { cwd: folder, env });

/** The jar comes from the Maven repository that the machine is set up for. */
async function generateWithJar(place: Workplace, language: string, target: string, options: string[] = []): Promise<void> {
  const jar = join(place.tools, `openapi-generator-cli-${versions.openapiGenerator}.jar`);
  const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${versions.openapiGenerator}`;
  await run('sh', ['-c', `test -f '${jar}' || mvn -q dependency:copy ${artifact} -DoutputDirectory='${place.tools}'`], {});
  await run(
    'java',
    [
      '-jar',
      jar,
      'generate',
      '-i',
      place.contract,
      '-g',
      language,
      '-o',
      target,
      '--global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false',
      ...options,
    ],
    { cwd: place.folder },
  );
}

/** A Python environment of its own, so that generators and clients do not meet each other's packages. */
async function openPython({ folder, tools }: Workplace, name: string, packages: string[]): Promise<string> {
  const home = join(tools, name);
  const python = join(home, 'bin/python');
  await run('sh', ['-c', `test -x '${python}' || python3 -m venv '${home}'`], {});
  await run(python, ['-m', 'pip', 'install', '-q', ...packages], { cwd: folder });
  return python;
}

async function useGo({ folder, env }: Workplace): Promise<string> {
  return run('go', ['run', '.'], { cwd: folder, env });
}

export const generators: Generator[] = [
  {
    name: 'openapi-typescript',
    needs: [],
    async generate(place) {
      await openTypescript(place, 'openapiTypescript.ts.txt');
      await run(bin('openapi-typescript'), [place.contract, '-o', 'service.d.ts', '--default-non-nullable', 'false'], {
        cwd: place.folder,
      });
    },
    compile: compileTypescript,
    use: useTypescript,
  },
  {
    name: 'openapi-generator typescript-fetch',
    needs: ['java', 'mvn'],
    async generate(place) {
      await openTypescript(place, 'typescriptFetch.ts.txt');
      await generateWithJar(place, 'typescript-fetch', 'service', ['--additional-properties=importFileExtension=.ts']);
    },
    compile: compileTypescript,
    use: useTypescript,
  },
  {
    name: 'openapi-generator python',
    needs: ['java', 'mvn', 'python3'],
    async generate(place) {
      await copyFile(story('openapi_generator.py'), join(place.folder, 'story.py'));
      await generateWithJar(place, 'python', 'service');
    },
    async compile(place) {
      const python = await openPython(place, 'python-openapi-generator', ['./service', `mypy==${versions.mypy}`, 'types-python-dateutil']);
      await run(python, ['-m', 'mypy', '--config-file=', 'service/openapi_client', 'story.py'], { cwd: place.folder });
    },
    use: ({ folder, tools, env }) => run(join(tools, 'python-openapi-generator/bin/python'), ['story.py'], { cwd: folder, env }),
  },
  {
    name: 'openapi-python-client',
    needs: ['python3'],
    async generate(place) {
      const python = await openPython(place, 'python-client', [
        `openapi-python-client==${versions.openapiPythonClient}`,
        `mypy==${versions.mypy}`,
      ]);
      await copyFile(story('openapi_python_client.py'), join(place.folder, 'story.py'));
      const tool = join(python, '../openapi-python-client');
      // What it calls a warning is an answer that has no JSON form, such as a picture: it leaves that out.
      await run(tool, ['generate', '--path', place.contract, '--output-path', 'service'], { cwd: place.folder });
      await cp(join(place.folder, 'service/workbook_data_service_client'), join(place.folder, 'workbook_data_service_client'), {
        recursive: true,
      });
    },
    compile: ({ folder, tools }) =>
      run(join(tools, 'python-client/bin/python'), ['-m', 'mypy', '--strict', 'workbook_data_service_client', 'story.py'], { cwd: folder }),
    use: ({ folder, tools, env }) => run(join(tools, 'python-client/bin/python'), ['story.py'], { cwd: folder, env }),
  },
  {
    name: 'openapi-generator go',
    needs: ['java', 'mvn', 'go'],
    async generate(place) {
      await generateWithJar(place, 'go', 'service', ['--additional-properties=packageName=service,withGoMod=false,isGoSubmodule=true']);
      await openGo(place, 'openapiGenerator.go.txt');
    },
    compile: ({ folder }) => run('go', ['vet', '.', './service'], { cwd: folder }),
    use: useGo,
  },
  {
    name: 'oapi-codegen',
    needs: ['go'],
    async generate(place) {
      const tool = join(place.tools, 'oapi-codegen');
      const install = `go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${versions.oapiCodegen}`;
      await run('sh', ['-c', `test -x '${tool}' || ${install}`], { env: { GOBIN: place.tools } });
      await mkdir(join(place.folder, 'service'), { recursive: true });
      await run(tool, ['-generate', 'types,client', '-package', 'service', '-o', 'service/service.go', place.contract], {
        cwd: place.folder,
      });
      await openGo(place, 'oapiCodegen.go.txt');
    },
    compile: ({ folder }) => run('go', ['vet', './...'], { cwd: folder }),
    use: useGo,
  },
];

async function openGo({ folder }: Workplace, program: string): Promise<void> {
  await copyFile(story(program), join(folder, 'main.go'));
  await run('go', ['mod', 'init', 'clients'], { cwd: folder });
  await run('go', ['mod', 'tidy'], { cwd: folder });
}
