// The order in which a dump's views are made. Dump tools write them by name, after stand-ins of all of them without rows.

import type { Objects } from "./split.ts";

const beginning = /(?=^--\n-- Final view structure for view )/m;

const part = "`(?:[^`]|``)*`";
/** Text, or what stands before a table and its column, before a table in FROM, or before a function: a database. */
const inDatabases = new RegExp(
  `'(?:[^'\\\\]|\\\\[\\s\\S]|'')*'|(${part})\\.(?=${part}\\.${part})|\\b(?:from|join) \\(*(${part})\\.|(${part})\\.(?=${part}\\()`,
  "g",
);

/** Views are made over stand-ins, so that those of several databases are made once all of these have theirs. */
export function separateViews(code: string): { before: string; views: string } {
  const at = code.search(beginning);
  return at < 0
    ? { before: code, views: "" }
    : { before: code.slice(0, at), views: code.slice(at) };
}

/** Leaves out the views that read other databases than their own, which may not be there. Their stand-ins stay. */
export function withoutForeignViews(objects: Objects): { objects: Objects; left: string[] } {
  const { code, source } = objects;
  if (source === undefined || source === null) return { objects, left: [] };
  const own = `\`${source.replaceAll("`", "``")}\``;
  const left: string[] = [];
  const [before = "", ...blocks] = code.split(beginning);
  const kept = blocks.map((block) => {
    const [view = "", name = ""] = made.exec(block) ?? [];
    const databases = [...view.matchAll(inDatabases)].flatMap(
      ([, ...groups]) => groups.find((group) => group !== undefined) ?? [],
    );
    if (databases.every((database) => database === own)) return block;
    left.push(Buffer.from(name.slice(1, -1), "latin1").toString("utf8").replaceAll("``", "`"));
    return block
      .replace(made, "")
      .replace(/^\/\*!50001 (?:DROP VIEW |CREATE ).*\n/gm, "")
      .replace(/^\/\*!50013 .*\n/m, "");
  });
  return { objects: { ...objects, code: [before, ...kept].join("") }, left };
}

const made = /^\/\*!50001 VIEW (`(?:[^`]|``)+`)[\s\S]*?\*\/;$/m;

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
    views.map((view) => [
      view,
      new Set((view.block.match(/`(?:[^`]|``)+`/g) ?? []).filter((word) => names.has(word))),
    ]),
  );
  const ordered: typeof views = [];
  // By themselves: a dump may be without quotes, and then no name is known.
  const seen = new Set<(typeof views)[number]>();
  const place = (view: (typeof views)[number]) => {
    if (seen.has(view)) return;
    seen.add(view);
    for (const other of views) if (reads.get(view)?.has(other.name) === true) place(other);
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
