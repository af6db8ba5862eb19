// Plain JavaScript that any Node runs: make starts it before anything is built, and the program imports it
// first, because its libraries are ES modules that an older Node cannot `require`.
if (!process.features.require_module) {
  console.error(
    `plant-care-api needs Node 20.19 or later (22.13 or later of Node 22); this is ${process.versions.node}.`,
  );
  process.exit(1);
}
