import { type AttackReport, formatBytes } from './attack.ts';
import type { Latencies } from './bystander.ts';

/** An attack's figures, for people. */
export function describeReport(name: string, { outcome, quiet, during, peaks, faults }: AttackReport): string {
  const answers = [...outcome].map(([what, times]) => `${what} × ${times}`).join(', ');
  const memory = [...peaks].filter(([, bytes]) => bytes > 50e6).map(([part, bytes]) => `${part} ${formatBytes(bytes)}`);
  return [
    `\n${faults.length === 0 ? '  ' : '✗ '}${name}`,
    `    the attacker got   ${answers}`,
    ...[...during].map(
      ([habit, times]) => `    ${`somebody's ${habit}`.padEnd(19)}${describe(times)}   (before: ${describe(quiet.get(habit))})`,
    ),
    `    peak memory        ${memory.join(', ')}`,
    ...faults.map((fault) => `    ✗ ${fault}`),
  ].join('\n');
}

function describe(times: Latencies | undefined): string {
  if (!times) return 'nothing';
  return `p50 ${Math.round(times.p50)} ms, p95 ${Math.round(times.p95)} ms, worst ${Math.round(times.worst)} ms of ${times.count}`;
}
