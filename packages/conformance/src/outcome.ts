/** Outcomes of a check other than success. */

/** A sentence of the contract that does not hold. */
export class Broken extends Error {}
/** A sentence that cannot be shown here, with what it needs. */
export class Skipped extends Error {}
