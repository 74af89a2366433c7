/** A count with its noun: `1 alert`, `2,000 alerts`. */
export const countText = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`;
