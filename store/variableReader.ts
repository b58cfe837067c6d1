import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNetwork } from '../core/networkAddress.ts';
import { type AllowedTarget, parseAllowedTarget } from '../core/outbound/allowedTarget.ts';
import { parseStorageLimits, type StorageLimits, usualStorageLimits } from '../core/storage/limits.ts';
import { parseSize } from '../core/storage/sizes.ts';
import { type VariableName, variables } from './variables.ts';

const unitsMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export type Env = Record<string, string | undefined>;

/** Reads variables one by one and collects what is wrong with them, so that all of it can be reported at once. */
export class VariableReader {
  readonly problems: string[] = [];

  constructor(private readonly env: Env) {}

  /** Returns '' so that it can be used where a value is needed; a config with problems is never used. */
  refuse(name: VariableName, why: string): string {
    const { meaning, default: fallback } = variables[name];
    this.problems.push(`${name} ${why} (${meaning}; default: ${fallback})`);
    return '';
  }

  text(name: VariableName): string | null {
    const value = this.env[name]?.trim();
    return value ? value : null;
  }

  path(name: VariableName): string | null {
    const value = this.text(name);
    return value === null ? null : resolve(value);
  }

  secret(name: VariableName, shortest: number): string | null {
    const value = this.text(name);
    if (value !== null && value.length < shortest) this.refuse(name, `must have at least ${shortest} characters, not ${value.length}`);
    return value;
  }

  port(name: VariableName, fallback: number): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const port = /^\d{1,5}$/.test(value) ? Number(value) : 0;
    if (port < 1 || port > 65535) this.refuse(name, `must be a whole number from 1 to 65535, not "${value}"`);
    return port;
  }

  /** Letters, digits, dots, dashes and underscores. */
  word(name: VariableName): string | null {
    const value = this.text(name);
    if (value !== null && !/^[\w.-]{1,100}$/.test(value)) this.refuse(name, 'must be up to 100 letters, digits, ".", "-" and "_"');
    return value;
  }

  count(name: VariableName, fallback: number, least = 1): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const count = /^\d{1,15}$/.test(value) ? Number(value) : -1;
    if (count < least) this.refuse(name, `must be a whole number from ${least} on, not "${value}"`);
    return count;
  }

  flag(name: VariableName, fallback: boolean): boolean {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return fallback;
    if (['on', 'true', 'yes', '1'].includes(value)) return true;
    if (!['off', 'false', 'no', '0'].includes(value)) this.refuse(name, `must be on or off, not "${value}"`);
    return false;
  }

  proxies(name: VariableName): number {
    const value = this.text(name)?.toLowerCase() ?? '';
    if (/^[2-9]$/.test(value)) return Number(value);
    return this.flag(name, false) ? 1 : 0;
  }

  choice<T extends string, Fallback extends T | null>(name: VariableName, choices: readonly T[], fallback: Fallback): T | Fallback {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return fallback;
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) this.refuse(name, `must be one of ${choices.join(', ')}, not "${value}"`);
    return chosen ?? fallback;
  }

  size(name: VariableName, fallback: number): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const bytes = parseSize(value);
    if (bytes === null) this.refuse(name, `must be a size such as 500MB or 2GB, or unlimited, not "${value}"`);
    return bytes ?? fallback;
  }

  storageLimits(name: VariableName): StorageLimits {
    const value = this.text(name);
    const limits = value === null ? usualStorageLimits : parseStorageLimits(value);
    if (limits === null) this.refuse(name, `must be a size such as 5GB, or sizes of plans such as free=5GB,pro=unlimited, not "${value}"`);
    return limits ?? usualStorageLimits;
  }

  /** `id:key`, between commas; a key is 32 bytes as base64. */
  payloadKeys(name: VariableName): { id: string; key: Buffer }[] {
    const keys = this.list(name).map((item) => {
      const [, id = '', text = ''] = /^([\w-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/.exec(item) ?? [];
      return { id, key: Buffer.from(text, 'base64') };
    });
    if (keys.some(({ key }) => key.length !== 32))
      this.refuse(name, 'must be id:key, where a key is 32 bytes as base64 (openssl rand -base64 32)');
    if (new Set(keys.map(({ id }) => id)).size !== keys.length) this.refuse(name, 'must not name two keys alike');
    return keys;
  }

  url(name: VariableName, protocols: string[]): string | null {
    const value = this.text(name);
    if (value === null) return null;
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;
    // A database address contains a password: say what is expected, not what was given.
    const given = 'secret' in variables[name] ? '' : `, not "${value}"`;
    this.refuse(name, `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}${given}`);
    return null;
  }

  private list(name: VariableName): string[] {
    const listed = (this.text(name) ?? '').split(',').map((item) => item.trim());
    return listed.filter((item) => item !== '');
  }

  /** Reads what is said, or else the default that a reader is told. */
  networks(name: VariableName): string[] {
    const networks = this.list(name);
    for (const network of networks) {
      if (!isNetwork(network)) this.refuse(name, `must hold addresses or networks such as 10.0.0.0/8, not "${network}"`);
    }
    return networks.length > 0 ? networks : variables[name].default.split(', ');
  }

  /** In milliseconds. Reads what is said, or else the default that a reader is told. */
  delays(name: VariableName): number[] {
    const said = this.list(name);
    return (said.length > 0 ? said : variables[name].default.split(', ')).map((text) => {
      const [, digits, unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
      if (digits === undefined) this.refuse(name, `must hold times such as 5s, 30m or 2h, not "${text}"`);
      return Number(digits) * (unitsMs[unit] ?? 0);
    });
  }

  allowedTargets(name: VariableName): AllowedTarget[] {
    const targets = this.list(name).map((text) => ({ text, target: parseAllowedTarget(text) }));
    for (const { text, target } of targets) {
      if (target === null) this.refuse(name, `must hold hosts, host:port or networks such as 10.0.0.0/8, not "${text}"`);
    }
    return targets.flatMap(({ target }) => target ?? []);
  }

  origins(name: VariableName): string[] {
    const origins = this.list(name);
    for (const origin of origins) {
      if (origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)) continue;
      this.refuse(name, `must hold origins such as https://app.example.com (no path, no slash at the end) or *, not "${origin}"`);
    }
    return origins;
  }

  fileUrl(name: VariableName, url: URL): string {
    try {
      return fileURLToPath(url);
    } catch {
      return this.refuse(name, 'must be a folder of this machine: file:///folder');
    }
  }

  hostAndPort(name: VariableName): string | null {
    const value = this.text(name);
    if (value === null) return null;
    if (!/^([^\s/:]+|\[[0-9a-fA-F:]+\]):\d{1,5}$/.test(value)) this.refuse(name, `must be host:port, not "${value}"`);
    return value;
  }
}
