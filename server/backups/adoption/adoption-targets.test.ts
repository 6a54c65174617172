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
    promise: "selects the entry of the same kind, name and server",
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
    promise: "never selects an entry of another server if its own exists",
    targets: [entry(2)],
    servers: ["web-1", "web-2"],
    expected: [/no PostgreSQL database “shop” on server “web-1”, only on another one\. Add it/],
  },
  {
    promise: "selects the only entry if the server was renamed",
    targets: [entry(2)],
    servers: ["web-2"],
    expected: [2],
  },
  {
    promise: "selects none of several entries if the server was renamed",
    targets: [entry(2), entry(3)],
    servers: ["web-2", "web-3"],
    expected: [/can't determine which .* Give the server of the right one the name “web-1”/],
  },
  {
    promise: "assigns no entry to two sources of removed servers",
    sources: [source(), source({ server: "web-9" })],
    targets: [entry(2)],
    servers: ["web-2"],
    expected: [/can't determine/, /can't determine/],
  },
  {
    promise: "leaves an entry to the source that matches it exactly",
    sources: [source({ server: "gone" }), source()],
    targets: [entry(1)],
    expected: [/neither a server “gone” nor another PostgreSQL database “shop”/, 1],
  },
  {
    promise: "selects none of two indistinguishable entries",
    targets: [entry(1), entry(6, { server: "web-1" })],
    expected: [/Several entries .* Give all but the right one another name/],
  },
  {
    promise: "reports what the inventory lacks",
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
