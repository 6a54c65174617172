// The order in which a dump's views are made. Dump tools write them by name, after stand-ins of all of them without rows.

const beginning = /(?=^--\n-- Final view structure for view )/m;

/**
 * Each view after those that it reads, because one with a CHECK OPTION cannot be made over a stand-in. Those with a definer
 * that is gone last and the other way round: over such a view no other can be made, over its stand-in it can.
 * @param code the views, triggers and routines of a dump
 * @param gone the definers, as they stand there, that the server does not know
 */
export function orderViews(code: string, gone: readonly string[]): string {
  const [before = "", ...blocks] = code.split(beginning);
  const views = blocks.map((block) => ({
    block,
    name: /^\/\*!50001 VIEW (`(?:[^`]|``)+`)/m.exec(block)?.[1] ?? "",
    isGone: gone.some((account) => block.includes(`DEFINER=${account} `)),
  }));
  const names = new Set(views.map(({ name }) => name));
  const reads = new Map(
    views.map(({ name, block }) => [
      name,
      new Set((block.match(/`(?:[^`]|``)+`/g) ?? []).filter((word) => names.has(word))),
    ]),
  );
  const ordered: typeof views = [];
  const seen = new Set<string>();
  const place = (view: (typeof views)[number]) => {
    if (seen.has(view.name)) return;
    seen.add(view.name);
    for (const other of views) if (reads.get(view.name)?.has(other.name) === true) place(other);
    ordered.push(view);
  };
  views.forEach(place);
  return [
    before,
    ...ordered.filter(({ isGone }) => !isGone).map(({ block }) => block),
    ...ordered
      .filter(({ isGone }) => isGone)
      .toReversed()
      .map(({ block }) => block),
  ].join("");
}
