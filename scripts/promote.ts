import { loadConfig } from '../store/config.ts';
import { describeError } from '../store/lifecycle.ts';
import { promoteBuild } from '../store/temporal/deployment.ts';

/** Workers of a new release may still be pulling their image. */
const waitMs = 10 * 60_000;

/** `npm run promote`: from now on the workers of SVC_BUILD_ID get all tasks. Once for each release, while its workers start. */
try {
  const { temporal } = loadConfig();
  if (temporal.buildId === null) throw new Error('SVC_BUILD_ID is not set; without it every worker gets tasks.');
  if (temporal.address === null) throw new Error('TEMPORAL_ADDRESS is not set; `npm start` promotes what it starts by itself.');
  console.log(`The workers of build ${await promoteBuild(temporal, waitMs)} get all tasks.`);
} catch (error) {
  console.error(describeError(error));
  process.exitCode = 1;
}
