import { Presets, SingleBar } from 'cli-progress';
import { type Io, say } from './io.ts';

const LINE_EVERY_MS = 5_000;

/** Progress of a long write, with its rate and the time left: a bar on a terminal, otherwise a line now and then. */
export function startProgress(io: Io, what: string, total: number) {
  const began = io.now();
  let done = 0;
  const figures = () => {
    const rate = done / Math.max(0.001, (io.now() - began) / 1000);
    return { rate: Math.round(rate), left: Math.ceil((total - done) / Math.max(1, rate)) };
  };
  const { add, end } = io.stderr.isTTY ? inBar() : inLines();

  function inBar() {
    const format = `${what} {bar} {percentage} % | {value} of {total} | {rate} a second | {left} s left`;
    const stream = io.stderr as NodeJS.WriteStream;
    const bar = new SingleBar({ stream, format, hideCursor: true, gracefulExit: false }, Presets.shades_classic);
    bar.start(total, 0, figures());
    return { add: () => bar.update(done, figures()), end: () => bar.stop() };
  }

  function inLines() {
    let saidAt = began;
    const text = () => `${what}: ${done} of ${total}, ${figures().rate} a second`;
    const add = () => {
      if (io.now() - saidAt < LINE_EVERY_MS || done === total) return;
      saidAt = io.now();
      say(io, `${text()}, ${figures().left} s left`);
    };
    const end = () => {
      if (done > 0) say(io, text());
    };
    return { add, end };
  }

  return {
    add(count: number) {
      done += count;
      add();
    },
    done: () => done,
    end,
  };
}
