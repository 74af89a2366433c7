/** How large a line of import and the feed may be, and what it may hold. */

/** Maximum bytes of a line in UTF-8. Its row then takes less than half of the 400 KB that DynamoDB allows. */
export const MAX_LINE_BYTES = 65_536;
/** Maximum bytes of a record over HTTPS. With account and time it fits a line of the feed. */
export const MAX_RECORD_BYTES = 8_192;
/** Maximum nesting levels of a line, counting the line itself. */
export const MAX_DEPTH = 31;
/** Maximum length of a field's name, in code points. */
export const MAX_FIELD_NAME = 128;
/** The smallest magnitude that DynamoDB stores. */
export const SMALLEST_NUMBER = 1e-130;
