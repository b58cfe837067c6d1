// npm start (and, with a name, npm run cluster, api, worker, migrate, promote, build, backup and restore): installs and bundles what is missing,
// then becomes the supervisor. It stays one process, so that there is nothing between the terminal and the supervisor that could be
// killed.
import { bootstrap } from './bootstrap.mjs';

await bootstrap();
process.setSourceMapsEnabled(true);
const { prepareProgram } = await import('../store/builds/programs.mjs');
const programs = {
  api: 'one',
  worker: 'one',
  migrate: 'migrate',
  promote: 'promote',
  build: 'build',
  backup: 'backup',
  restore: 'restore',
};
await import(await prepareProgram(programs[process.argv[2]] ?? 'run'));
