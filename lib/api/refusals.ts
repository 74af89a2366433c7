export { refuse } from './errors.ts';
