import { type Plan, plans } from '../credits/priceList.ts';
import { parseSize } from './sizes.ts';

/** Bytes that an account of each plan may store; Infinity for no limit. */
export type StorageLimits = Record<Plan, number>;

export const usualStorageLimits: StorageLimits = { free: 100e9, payg: 100e9, solo: 500e9, pro: 2e12 };

/** One size for all plans, or `free=5GB,pro=unlimited`; plans that are not named keep the usual one. Null: it cannot be read. */
export function parseStorageLimits(text: string): StorageLimits | null {
  const all = parseSize(text);
  if (all !== null) return { free: all, payg: all, solo: all, pro: all };
  const limits = { ...usualStorageLimits };
  for (const part of text.split(',')) {
    const [plan = '', size = ''] = part.split('=').map((each) => each.trim());
    const bytes = parseSize(size);
    if (bytes === null || !Object.hasOwn(plans, plan)) return null;
    limits[plan as Plan] = bytes;
  }
  return limits;
}

export function formatStorageLimits(limits: StorageLimits): string {
  return Object.entries(limits)
    .map(([plan, bytes]) => `${plan}=${formatLimit(bytes)}`)
    .join(',');
}

export function formatLimit(bytes: number): string {
  return Number.isFinite(bytes) ? String(bytes) : 'unlimited';
}
