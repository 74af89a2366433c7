/** How the check of a sentence ends otherwise than well. */

/** A sentence of the contract that does not hold. */
export class Broken extends Error {}
/** A sentence that cannot be shown here, and what it needs. */
export class Skipped extends Error {}
