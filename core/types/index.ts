export * from './date.js';
export * from './infer.js';
export * from './number.js';
