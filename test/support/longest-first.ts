/** The order of the test files: those that take longest begin first, so that no worker is left with one at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** By their time under faults, then without. The others follow in vitest's own order. */
const LONGEST = [
  ...['table-double', 'crash-sweep', 'model', 'ambiguity', 'races', 'fuzz', 'restore', 'overload'],
  ...['start-and-end', 'start', 'documents', 'admin-data', 'table-client', 'admin-check', 'bundles', 'deadline'],
].map((name) => `/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
