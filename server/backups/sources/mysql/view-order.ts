// Sorts a dump's views into an order in which they can be created. Dump tools write them by name, after a stand-in without rows for
// each.

import type { Objects } from "./split.ts";

const beginning = /(?=^--\n-- Final view structure for view )/m;

const part = "`(?:[^`]|``)*`";
/** Matches string literals, or a database: before a table and its column, before a table in FROM, or before a function. */
const inDatabases = new RegExp(
  `'(?:[^'\\\\]|\\\\[\\s\\S]|'')*'|(${part})\\.(?=${part}\\.${part})|\\b(?:from|join) \\(*(${part})\\.|(${part})\\.(?=${part}\\()`,
  "g",
);

/** Separates the views, so that those of several databases can be created once all databases have their stand-ins. */
export function separateViews(code: string): { before: string; views: string } {
  const at = code.search(beginning);
  return at < 0
    ? { before: code, views: "" }
    : { before: code.slice(0, at), views: code.slice(at) };
}

/** Leaves out views that read other databases, which may not exist. Their stand-ins stay. */
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
 * Puts each view after those that it reads, because a view with a CHECK OPTION cannot be created over a stand-in. Views whose definer
 * does not exist come last, in reverse order: no other view can be created over such a view, only over its stand-in.
 * @param code the views, triggers and routines of a dump
 * @param gone definers that the server does not have, as written in `code`
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
  // By object, not by name, because no name is found in a dump without quotes.
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
