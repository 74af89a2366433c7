import fc from 'fast-check';

/** Any text, with control characters and halves of surrogate pairs. The unit `binary` of fast-check takes a second to set up. */
export const anyText = fc.string({
  unit: fc
    .oneof({ weight: 3, arbitrary: fc.nat({ max: 0x7f }) }, fc.nat({ max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code)),
});
