/** How many there are of what a noun names: `1 alert`, `2,000 alerts`. */
export const countText = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`;
