/** Days that follow each other without a gap, by their numbers; both ends are part of it. */
export interface Run {
  first: number;
  last: number;
}

export function lengthOf({ first, last }: Run): number {
  return last - first + 1;
}

/** The runs of days, which come in their order. */
export function runsOf(days: readonly number[]): Run[] {
  const runs: Run[] = [];
  for (const day of days) {
    const run = runs.at(-1);
    if (run?.last === day - 1) run.last = day;
    else runs.push({ first: day, last: day });
  }
  return runs;
}

/** Runs in their order, once some days were added to them and others taken out. */
export function changedRuns(
  runs: readonly Run[],
  { added, removed }: { added: readonly number[]; removed: readonly number[] },
): Run[] {
  const changed = [...runs];
  for (const day of removed) {
    const at = changed.findLastIndex(({ first }) => first <= day);
    const run = changed[at];
    if (!run || run.last < day) continue;
    const rest = [
      { first: run.first, last: day - 1 },
      { first: day + 1, last: run.last },
    ];
    changed.splice(at, 1, ...rest.filter(({ first, last }) => first <= last));
  }
  for (const day of added) {
    const at = changed.findLastIndex(({ first }) => first <= day);
    const [before, after] = [changed[at], changed[at + 1]];
    if (before && before.last >= day) continue;
    const run = { first: day, last: day };
    const joined = [before, after].filter(
      (near) => near?.last === day - 1 || near?.first === day + 1,
    );
    for (const near of joined) {
      run.first = Math.min(run.first, near?.first ?? day);
      run.last = Math.max(run.last, near?.last ?? day);
    }
    changed.splice(joined.includes(before) ? at : at + 1, joined.length, run);
  }
  return changed;
}

/** How many days the runs have that begin on a day, where that is not how many they should have. */
export function differentRuns(
  runs: readonly Run[],
  wanted: readonly Run[],
): { first: number; is: number; should: number }[] {
  const lengths = (each: readonly Run[]) => new Map(each.map((run) => [run.first, lengthOf(run)]));
  const [is, should] = [lengths(runs), lengths(wanted)];
  return [...new Set([...is.keys(), ...should.keys()])]
    .map((first) => ({ first, is: is.get(first) ?? 0, should: should.get(first) ?? 0 }))
    .filter((each) => each.is !== each.should);
}
