import fc from 'fast-check';

/** Any text, also with control characters and unpaired surrogates. fast-check's own unit `binary` takes a second to set up. */
export const anyText = fc.string({
  unit: fc
    .oneof({ weight: 3, arbitrary: fc.nat({ max: 0x7f }) }, fc.nat({ max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code)),
});
