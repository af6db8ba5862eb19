'use strict';

// Prints what of the program the tests of both tiers reach.

const { readFileSync } = require('node:fs');
const path = require('node:path');

const { createCoverageMap } = require('istanbul-lib-coverage');
const { createContext } = require('istanbul-lib-report');
const reports = require('istanbul-reports');

const FOLDER = path.resolve(__dirname, '../../coverage');

const coverageMap = createCoverageMap();
for (const tier of ['computing', 'waiting']) {
  coverageMap.merge(
    JSON.parse(readFileSync(path.join(FOLDER, tier, 'coverage-final.json'), 'utf8')),
  );
}
const context = createContext({ dir: FOLDER, coverageMap });
reports.create('text-summary').execute(context);
reports.create('html').execute(context);
