export * from './date.ts';
export * from './infer.ts';
export * from './number.ts';
