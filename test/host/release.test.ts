import { readFileSync } from 'node:fs';
import path from 'node:path';

import { PROJECT, PROJECT_FOLDER } from '../../src/core/settings/project';

const read = (file: string) => readFileSync(path.join(PROJECT_FOLDER, file), 'utf8');

test('the changelog, package.json and deploy/ have the same release', () => {
  const releases = [
    ...read('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/gm),
  ];
  expect(releases[0]?.[1]).toBe(PROJECT.version);
  const lock = JSON.parse(read('package-lock.json')) as { version: string };
  expect(lock.version).toBe(PROJECT.version);
  const images = [
    ...read('deploy/kubernetes/plant-care.yaml').matchAll(/image: plant-care:(\S+)/g),
  ];
  expect(new Set(images.map(([, tag]) => tag))).toEqual(new Set([PROJECT.version]));
});
