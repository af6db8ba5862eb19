import { PROJECT, NODE_VERSIONS } from '../../core/project';
import { fault, good, type OfflineCheck } from './check';

/** Whether this is a Node on which the program runs. */
export const node: OfflineCheck = async () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = (/\d+\.\d+/.exec(NODE_VERSIONS)?.[0] ?? '')
    .split('.')
    .map(Number);
  const isGood = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  const found = `Node ${process.versions.node}`;
  return [
    good('program', `release ${PROJECT.version}`),
    isGood
      ? good('Node', `version ${process.versions.node}`)
      : fault('Node', `${found} is not ${NODE_VERSIONS}: install one that is.`),
  ];
};
