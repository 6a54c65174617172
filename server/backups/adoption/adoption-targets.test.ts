// Tests which entry of the inventory the backups of an earlier installation are assigned to.
import { expect, test } from "vitest";
import {
  type AdoptionTarget,
  keyOfSource,
  matchSources,
  type OldSource,
} from "./adoption-targets.ts";

const source = (change: Partial<OldSource> = {}): OldSource => ({
  type: "database",
  engine: "postgres",
  name: "shop",
  server: "web-1",
  ...change,
});
const entry = (id: number, change: Partial<AdoptionTarget> = {}): AdoptionTarget => ({
  type: "database",
  engine: "postgres",
  id,
  name: "shop",
  serverId: id,
  server: `web-${id}`,
  ...change,
});

type Case = {
  promise: string;
  sources?: OldSource[];
  targets: AdoptionTarget[];
  servers?: string[];
  /** For each source: the id of its entry, or its problem. */
  expected: (number | RegExp)[];
};

const cases: Case[] = [
  {
    promise: "takes the one of the same kind, name and server",
    targets: [
      entry(2),
      entry(1),
      entry(3, { server: "web-1", engine: "mysql" }),
      entry(4, { server: "web-1", name: "blog" }),
      entry(5, { server: "web-1", type: "site", engine: "folder" }),
    ],
    expected: [1],
  },
  {
    promise: "never takes that of another server while its own is there",
    targets: [entry(2)],
    servers: ["web-1", "web-2"],
    expected: [/no PostgreSQL database “shop” on server “web-1”, only on another one\. Add it/],
  },
  {
    promise: "takes the only one where the server has another name now",
    targets: [entry(2)],
    servers: ["web-2"],
    expected: [2],
  },
  {
    promise: "takes none of several where the server has another name now",
    targets: [entry(2), entry(3)],
    servers: ["web-2", "web-3"],
    expected: [/can't determine which .* Give the server of the right one the name “web-1”/],
  },
  {
    promise: "gives one entry to no two sources of servers that are gone",
    sources: [source(), source({ server: "web-9" })],
    targets: [entry(2)],
    servers: ["web-2"],
    expected: [/can't determine/, /can't determine/],
  },
  {
    promise: "leaves an entry to the source that is exactly its own",
    sources: [source({ server: "gone" }), source()],
    targets: [entry(1)],
    expected: [/neither a server “gone” nor another PostgreSQL database “shop”/, 1],
  },
  {
    promise: "takes none of two entries that nothing tells apart",
    targets: [entry(1), entry(6, { server: "web-1" })],
    expected: [/Several entries .* Give all but the right one another name/],
  },
  {
    promise: "names what the inventory lacks",
    sources: [source({ type: "site", engine: "folder" }), source({ engine: "sqlite" })],
    targets: [],
    servers: [],
    expected: [/no site “shop”\. Add it/, /no SQLite database “shop”\. Add it/],
  },
];

test.each(cases)("$promise", ({ sources = [source()], targets, servers, expected }) => {
  const names = new Set(servers ?? targets.map(({ server }) => server));
  const matches = matchSources(sources, targets, names);
  for (const [index, one] of sources.entries()) {
    const match = matches.get(keyOfSource(one));
    const wanted = expected[index];
    if (typeof wanted === "number") expect(match).toMatchObject({ target: { id: wanted } });
    else expect(match).toMatchObject({ problem: expect.stringMatching(wanted ?? "") });
  }
});
