/**
 * `npm run test:certificate`: plants bugs in a copy of the sources, one after another, and shows that the certificate fails
 * the sentence that each breaks. The sentences were drawn by lot: of those that calls show, the ten whose numbers had the
 * smallest SHA-256 of `certificate <number>`.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { SECTIONS } from '../../cli/certify/sections/index.ts';
import { BREAKING, type Breaking } from './breaking.ts';
import { copySources, withBug } from './plant.ts';

function numberOf([section, begins]: Breaking['sentence']): string {
  const index = SECTIONS.find(({ number }) => number === section)?.sentences.findIndex(({ text }) =>
    text.startsWith(begins),
  );
  if (index === undefined || index < 0)
    throw new Error(`Section ${section} has no sentence that begins with "${begins}".`);
  return `${section}-${index + 1}`;
}

/** The line of the certificate that tells of the sentence, and the reason below it. */
const certificateOf = (folder: string, number: string) =>
  new Promise<string>((resolve) => {
    const args = ['cli/certify/main.ts', '--only', number];
    execFile(process.execPath, args, { cwd: folder }, (_error, stdout, stderr) => {
      const lines = stdout.split('\n').map((line) => line.trim());
      const index = lines.findIndex((line) => line.startsWith(`${number} `));
      resolve(index < 0 ? stderr.trim() : lines.slice(index, index + 2).join('\n      '));
    });
  });

const folder = copySources('certificate');
let missed = 0;
try {
  for (const bug of BREAKING) {
    const number = numberOf(bug.sentence);
    const told = await withBug(folder, bug, () => certificateOf(folder, number));
    const failed = told.startsWith(`${number} `) && told.includes(' FAILED ');
    if (!failed) missed += 1;
    process.stdout.write(`${failed ? 'failed' : 'MISSED'}  ${bug.name} (${bug.file})\n      ${told}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`\n${BREAKING.length - missed} of ${BREAKING.length} bugs fail their sentence.\n`);
process.exit(missed === 0 ? 0 : 1);
