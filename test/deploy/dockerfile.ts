import { readFileSync } from 'node:fs';
import path from 'node:path';

export const DEPLOY = path.resolve(__dirname, '../../deploy');

/** An instruction of a Dockerfile: its name and its arguments. */
interface Instruction {
  name: string;
  text: string;
}

/** The stages of the Dockerfile, each with its instructions after FROM. */
export function stagesOf(): Instruction[][] {
  const stages: Instruction[][] = [];
  const lines = readFileSync(path.join(DEPLOY, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ');
  for (const line of lines.split('\n')) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    else if (name !== '') stages.at(-1)?.push({ name, text });
  }
  return stages;
}

/** The arguments of the instructions with a name, in order. */
export function textsOf(stage: readonly Instruction[], name: string): string[] {
  return stage.flatMap((each) => (each.name === name ? [each.text] : []));
}
