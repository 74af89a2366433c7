declare module 'negotiator/lib/language.js' {
  /** The languages of an `Accept-Language` header, by their q-values, the most wanted first. */
  export default function preferredLanguages(acceptLanguage: string): string[];
}
