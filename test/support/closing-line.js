'use strict';

/** A Jest reporter that ends the run with one plain line, counted from Jest's own result. */
class ClosingLine {
  onRunComplete(_contexts, results) {
    // A file that cannot even be loaded holds no test that could have failed.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    this.line = `${results.numPassedTests} passed, ${failed} failed`;
    if (skipped > 0) this.line += `, ${skipped} skipped`;
    // Jest's own summary is written to standard error; the line must come after all of it.
    process.once('exit', () => {
      process.stdout.write(`${this.line}\n`);
    });
  }
}

module.exports = ClosingLine;
