import fc from 'fast-check';

/** The integer that a number is, by BigInt arithmetic on its text; undefined when it is none. Slow for large exponents. */
export function integerOf(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const power = BigInt(exponent) - BigInt(fraction.length);
  const digits = BigInt(whole + fraction) * (sign ? -1n : 1n);
  if (power >= 0n) return digits * 10n ** power;
  const divisor = 10n ** -power;
  return digits % divisor === 0n ? digits / divisor : undefined;
}

/** The text of an integer, often near a bound that matters, with its decimal point moved anywhere and sometimes with more decimals. */
export const numbers = fc
  .record({
    value: fc.oneof(
      fc.bigInt({ min: -3n, max: 2_005n }),
      fc
        .constantFrom(2n ** 52n, 2n ** 53n, 2n ** 63n, -(2n ** 63n), 2n ** 64n, 10n ** 25n)
        .chain((bound) => fc.bigInt({ min: bound - 3n, max: bound + 3n })),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    ),
    shift: fc.integer({ min: 0, max: 30 }),
    decimals: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.stringMatching(/^[0-9]{1,25}$/)),
    form: fc.constantFrom('plain', 'shifted', 'zeros'),
    e: fc.constantFrom('e', 'E', 'e+', 'E+'),
  })
  .map(({ value, shift, decimals, form, e }) => {
    const sign = value < 0n ? '-' : '';
    const digits = String(value).replace('-', '');
    if (form === 'plain') return `${sign}${digits}${decimals && `.${decimals}`}`;
    if (form === 'zeros') return `${sign}${digits}${value === 0n ? '' : '0'.repeat(shift)}e-${shift}`;
    // 12345 as 123.45e2, or as 0.00012345e8
    const padded = digits.padStart(shift + 1, '0');
    const fraction = `${padded.slice(padded.length - shift || padded.length)}${decimals}`;
    return `${sign}${padded.slice(0, padded.length - shift)}${fraction && `.${fraction}`}${e}${shift}`;
  });
