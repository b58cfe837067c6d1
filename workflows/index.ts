export { expireThings } from './expireThings.ts';
