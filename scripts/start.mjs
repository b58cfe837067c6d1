// npm start (and, with a name, npm run api and npm run worker): install what is missing, then become the supervisor. It stays one process, so that there is nothing between
// the terminal and the supervisor that could be killed on its own.
import { bootstrap } from './bootstrap.mjs';

await bootstrap();
const { register } = await import('tsx/esm/api');
register();
await import(process.argv[2] ? './one.ts' : './run.ts');
