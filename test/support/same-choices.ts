/** Before each test file: property tests, too, try the same values in every run. */
import fc from 'fast-check';
import { SEED } from './chance.ts';

fc.configureGlobal({ seed: SEED });
