/** Concurrent merges of one account. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface MergeLoad {
  seconds: number;
  /** Merges of one alert that begin each second. */
  smallPerSecond: number;
  /** Whether these begin together at the start of the second, and not spread over it. */
  atOnce?: boolean;
  /** Callers that send large merges, each one merge after the other. */
  largeCallers?: number;
}

/** Sends a merge. @returns the status of the answer */
type Send<Of extends number[]> = (...of: Of) => Promise<number>;

export async function runMergeLoad(
  { seconds, smallPerSecond, atOnce = false, largeCallers = 0 }: MergeLoad,
  send: { small: Send<[index: number]>; large: Send<[caller: number, index: number]> },
) {
  /** `ms` has the milliseconds of each merge. */
  const small = { sent: 0, refused: 0, ms: [] as number[] };
  /** All merges, committed or not, by the calls that they took. */
  const large = { upToTwoCalls: 0, moreCalls: 0 };
  const began = performance.now();
  const isOver = () => performance.now() - began > seconds * 1000;

  async function sendSmall(index: number): Promise<void> {
    small.sent += 1;
    const sentAt = performance.now();
    if ((await send.small(index)) !== 200) small.refused += 1;
    small.ms.push(performance.now() - sentAt);
  }

  async function sendLarge(caller: number): Promise<void> {
    for (let index = 0; !isOver(); index += 1) {
      let calls = 1;
      while ((await send.large(caller, index)) !== 200 && !isOver()) calls += 1;
      if (calls <= 2) large.upToTwoCalls += 1;
      else large.moreCalls += 1;
    }
  }

  const smallMerges: Promise<void>[] = [];
  const callers = Array.from({ length: largeCallers }, (_, caller) => sendLarge(caller));
  const count = smallPerSecond * seconds;
  for (let index = 0; index < count; index += 1) {
    const atSeconds = atOnce ? Math.floor(index / smallPerSecond) : index / smallPerSecond;
    await sleep(Math.max(0, began + atSeconds * 1000 - performance.now()));
    smallMerges.push(sendSmall(index));
  }
  await Promise.all([...smallMerges, ...callers]);
  return { small, large };
}
