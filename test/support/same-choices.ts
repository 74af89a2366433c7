/** Runs before each test file, so that property tests try the same values in every run. */
import fc from 'fast-check';
import { SEED } from './chance.ts';

fc.configureGlobal({ seed: SEED });
