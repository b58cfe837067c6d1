/** An instruction of a Dockerfile: `RUN`, `COPY` and so on, with the rest of its lines as one. */
export interface Instruction {
  name: string;
  text: string;
}

/** The stages of a Dockerfile, each with its instructions. What stands before the first FROM is left out. */
export function readStages(dockerfile: string): Instruction[][] {
  const lines = dockerfile
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [name = '', text = ''] = line.split(/\s+(.*)/s);
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text });
  }
  return stages;
}
