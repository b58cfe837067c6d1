import { describeVariables } from '../../store/config.ts';
import { variableTopics } from '../../store/variables.ts';

const INTRODUCTION = `# Configuration

The service is configured by environment variables. \`npm run generate\` makes this page from \`store/variables.ts\`;
\`store/config.ts\` is where they are read. What is wrong with them is said all at once, at the start.

\`npm start\` needs none of them: each one that is set replaces a piece of the embedded default. \`npm run api\` and
\`npm run worker\` start one part each and need \`DATABASE_URL\`, \`TEMPORAL_ADDRESS\` and \`SVC_SECRET\`; with several machines
\`BLOB_URL=s3://…\` too. A switch takes \`on\` or \`off\`. An empty variable counts as one that is not set.
The values of variables marked "secret" are never printed.
`;

/** The text of docs/configuration.md. */
export function makeConfigurationPage(): string {
  const described = describeVariables();
  const sections = variableTopics.map((topic) => {
    const rows = described
      .filter((variable) => variable.topic === topic)
      .map(({ name, default: fallback, meaning, secret }) => `| \`${name}\` | ${fallback} | ${meaning}${secret ? ' (secret)' : ''} |`);
    return [`## ${topic}`, '', '| Variable | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
  });
  return [INTRODUCTION, ...sections].join('\n');
}
