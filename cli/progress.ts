import { Presets, SingleBar } from 'cli-progress';
import { type Io, say } from './io.ts';

const LINE_EVERY_MS = 5_000;

export interface Progress {
  add(count: number): void;
  done(): number;
  end(): void;
}

/** How far a long writing is, with its rate and the time left: a bar on a terminal, a line now and then elsewhere. */
export function startProgress(io: Io, what: string, total: number): Progress {
  const began = io.now();
  let done = 0;
  const rate = () => done / Math.max(0.001, (io.now() - began) / 1000);
  const text = () =>
    `${what}: ${done} of ${total}, ${Math.round(rate())} a second, ${Math.ceil((total - done) / Math.max(1, rate()))} s left`;

  if (!io.stderr.isTTY) {
    let saidAt = began;
    return {
      add(count) {
        done += count;
        if (io.now() - saidAt < LINE_EVERY_MS || done === total) return;
        saidAt = io.now();
        say(io, text());
      },
      done: () => done,
      end() {
        if (done > 0) say(io, `${what}: ${done} of ${total}, ${Math.round(rate())} a second`);
      },
    };
  }
  const bar = new SingleBar(
    {
      stream: io.stderr as NodeJS.WriteStream,
      format: `${what} {bar} {percentage} % | {value} of {total} | {rate} a second | {left} s left`,
      hideCursor: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  const payload = () => ({ rate: Math.round(rate()), left: Math.ceil((total - done) / Math.max(1, rate())) });
  bar.start(total, 0, payload());
  return {
    add(count) {
      done += count;
      bar.update(done, payload());
    },
    done: () => done,
    end: () => bar.stop(),
  };
}
