import { describe, expect, test } from "vitest";
import type { Account } from "../hosts/account.ts";
import { decideAccounts, type EntryAccounts } from "./accounts.ts";
import type { AccountSource } from "./one-account.ts";
import { ServerAway } from "../ssh/server-away.ts";
import { parseInventory } from "./file.ts";

const account = (name: string, uid: number): Account => ({
  uid,
  gid: uid,
  name,
  home: `/home/${name}`,
});
const root = account("root", 0);
const shop = account("shop", 1001);
const blog = account("blog", 1002);
const database = account("quarterdeck", 990);
const known = [root, shop, blog, database];

/** Creates a machine with an owner for each path. */
function machine(owners: Record<string, number | string>, own = root) {
  const asked: string[] = [];
  const source: AccountSource = {
    own,
    reserved: [database.uid],
    find: async (key) => known.find(({ name, uid }) => name === key || uid === key) ?? null,
    findReplacer: async (path) => {
      const owner = owners[path];
      return typeof owner === "string" && owner.includes("could") ? owner : null;
    },
    findOwner: async (path) => {
      asked.push(path);
      const owner = owners[path];
      if (owner === undefined) throw Object.assign(new Error("not there"), { code: "ENOENT" });
      return typeof owner === "string" ? { problem: owner } : { uid: owner, gid: 0 };
    },
  };
  return { source, asked };
}

const nothing: EntryAccounts = { sites: new Map(), databases: new Map() };
const inventory = (sites: string, databases = "") =>
  parseInventory(
    `servers: [{ id: 1, name: here, connection: local }]\nsites: [${sites}]\ndatabases: [${databases}]`,
    "inventory.yaml",
  );
const site = (more = "", id = 1) =>
  `{ id: ${id}, server: 1, name: site-${id}, root: /srv/${id}${more} }`;
const sqlite = (more = "") =>
  `{ id: 1, server: 1, name: orders, engine: sqlite, path: /srv/1/db.sqlite${more} }`;

test("looks a name up once for all entries, because each lookup starts a process", async () => {
  const { source } = machine({});
  const asked: (string | number)[] = [];
  const find = (key: string | number) => {
    asked.push(key);
    return source.find(key);
  };
  const sites = [1, 2, 3].map((id) => site(id === 3 ? ", user: blog" : ", user: shop", id));
  const { accounts } = await decideAccounts(inventory(sites.join()), nothing, { ...source, find });
  expect([...accounts.sites.values()].map((one) => one.account)).toEqual([shop, shop, blog]);
  expect(asked).toEqual(["shop", "blog"]);
});

describe("a site's account, when the service runs as root, is", () => {
  test("the owner of its folder at the time when the entry was accepted, also later", async () => {
    const before = await decideAccounts(
      inventory(site()),
      nothing,
      machine({ "/srv/1": 1001 }).source,
    );
    expect(before.accounts.sites.get(1)).toEqual({
      account: shop,
      problem: null,
      ownerOf: "/srv/1",
    });
    const later = machine({ "/srv/1": 1002 });
    const after = await decideAccounts(inventory(site()), before.accounts, later.source);
    expect(after.accounts.sites.get(1)?.account).toEqual(shop);
    expect(later.asked).toEqual([]);
  });

  test("looked up again when the inventory names another folder, or no longer names the account", async () => {
    const { source } = machine({ "/srv/1": 1001, "/srv/2": 1002 });
    const before = await decideAccounts(inventory(site()), nothing, source);
    const moved = inventory(site().replace("/srv/1", "/srv/2"));
    expect(
      (await decideAccounts(moved, before.accounts, source)).accounts.sites.get(1)?.account,
    ).toEqual(blog);
    const given = await decideAccounts(inventory(site(", user: blog")), before.accounts, source);
    expect(given.accounts.sites.get(1)).toEqual({ account: blog, problem: null, ownerOf: null });
    const again = await decideAccounts(inventory(site()), given.accounts, source);
    expect(again.accounts.sites.get(1)?.account).toEqual(shop);
  });

  test("none if the folder belongs to root or to the service itself, or is missing, with a message about the fix", async () => {
    for (const [owners, words] of [
      [{ "/srv/1": "it belongs to root" }, "it belongs to root. Set “user”"],
      [{ "/srv/1": 990 }, "the account of Quarterdeck's own database"],
      [{}, "did not exist when the inventory was read"],
      [{ "/srv": "it belongs to root" }, "did not exist when the inventory was read"],
    ] as const) {
      const { accounts } = await decideAccounts(inventory(site()), nothing, machine(owners).source);
      expect(accounts.sites.get(1)).toMatchObject({ account: null });
      expect(accounts.sites.get(1)?.problem).toContain(words);
    }
  });

  test("looked up at each reading until there is one", async () => {
    const before = await decideAccounts(inventory(site()), nothing, machine({}).source);
    const { source } = machine({ "/srv/1": 1001 });
    const { accounts } = await decideAccounts(inventory(site()), before.accounts, source);
    expect(accounts.sites.get(1)?.account).toEqual(shop);
  });

  test("root if the entry names it", async () => {
    const { accounts } = await decideAccounts(
      inventory(site(", user: root")),
      nothing,
      machine({}).source,
    );
    expect(accounts.sites.get(1)).toEqual({ account: root, problem: null, ownerOf: null });
  });

  test("a uid without a name if the machine has no name for it", async () => {
    const { source } = machine({ "/srv/1": 4001 });
    const { accounts } = await decideAccounts(inventory(site()), nothing, source);
    expect(accounts.sites.get(1)?.account).toEqual({ uid: 4001, gid: 4001, name: "", home: "/" });
  });
});

test("a named account runs nothing if another account could replace the folder", async () => {
  const { accounts } = await decideAccounts(
    inventory(site(", user: shop")),
    nothing,
    machine({ "/srv/1": "user 1002 could put something else in its place" }).source,
  );
  expect(accounts.sites.get(1)).toMatchObject({
    account: null,
    problem: expect.stringContaining("a folder that only root and shop may write to"),
  });
});

test.each([
  ["nobody-here", "This machine has no user “nobody-here”."],
  ["quarterdeck", "“quarterdeck” is the account of Quarterdeck's own database"],
])("reports user: %s as an error at its line", async (user, words) => {
  const { complaints } = await decideAccounts(
    inventory(site(`, user: ${user}`)),
    nothing,
    machine({}).source,
  );
  expect(complaints).toEqual([
    { path: ["sites", 0, "user"], message: expect.stringContaining(words) },
  ]);
});

test("for an ordinary user everything has the service's account, and any other one is an error", async () => {
  const { source, asked } = machine({}, shop);
  const { accounts } = await decideAccounts(inventory(site(), sqlite()), nothing, source);
  expect(accounts.sites.get(1)?.account).toEqual(shop);
  expect(accounts.databases.get(1)?.account).toEqual(shop);
  expect(asked).toEqual([]);
  const { complaints } = await decideAccounts(inventory(site(", user: blog")), nothing, source);
  expect(complaints[0]?.message).toContain("cannot run anything as blog");
});

test.each(["", ", user: shop"])(
  "a server that becomes unavailable during the lookup leaves the account of a site {%s } unchanged",
  async (user) => {
    const { source } = machine({ "/srv/1": 1001 });
    const there = { ...source, whyNotAs: async () => null };
    const away = async () => {
      throw new ServerAway("silent", "web-1 stopped responding.");
    };
    const decide = (before: EntryAccounts, more: Partial<AccountSource> = {}) =>
      decideAccounts(inventory(site(user)), before, source, async () => ({ ...there, ...more }));
    const before = (await decide(nothing)).accounts;
    expect(before.sites.get(1)?.account).toEqual(shop);
    const known = { sites: new Map(before.sites), databases: new Map() };
    // The stored owner belongs to another path, so it has to be looked up again.
    const stored = known.sites.get(1);
    if (user === "" && stored !== undefined) known.sites.set(1, { ...stored, ownerOf: null });
    const after = await decide(known, { findOwner: away, findReplacer: away });
    expect(after.accounts.sites.get(1)).toMatchObject({ account: shop, problem: null });
  },
);

describe("a SQLite database's account is", () => {
  const owners = { "/srv/1": 1001, "/srv/2": 1002, "/srv/1/db.sqlite": 1002 };
  const decide = async (sites: string, databases = sqlite()) =>
    (
      await decideAccounts(inventory(sites, databases), nothing, machine(owners).source)
    ).accounts.databases.get(1);

  test("that of the site that names it, whoever owns the file", async () => {
    expect((await decide(site(", databases: [1]")))?.account).toEqual(shop);
  });

  test("its owner if no site names it, and the folder's if the file does not exist yet", async () => {
    expect((await decide(site()))?.account).toEqual(blog);
    expect((await decide(site(), sqlite().replace("db.sqlite", "new.sqlite")))?.account).toEqual(
      shop,
    );
  });

  test("its owner if a site of another server names it, which has other accounts", async () => {
    const file = inventory(site(", user: root, databases: [1]"), sqlite());
    for (const one of file.sites) one.server = 2;
    const { accounts } = await decideAccounts(file, nothing, machine(owners).source);
    expect(accounts.sites.get(1)?.account).toEqual(root);
    expect(accounts.databases.get(1)).toMatchObject({ account: blog, ownerOf: "/srv/1/db.sqlite" });
  });

  test("the one that its entry names", async () => {
    expect((await decide(site(", databases: [1]"), sqlite(", user: root")))?.account).toEqual(root);
  });

  test("none if sites of different accounts name it", async () => {
    const shared = await decide(`${site(", databases: [1]")}, ${site(", databases: [1]", 2)}`);
    expect(shared?.account).toBeNull();
    expect(shared?.problem).toContain("site-1, site-2");
  });
});

describe("the hooks of a database behind a URL run as", () => {
  const hooked = (user = "", hooks = "before: sync") =>
    `{ id: 1, server: 1, name: pg, engine: postgres, url: env:PG${hooks === "" ? "" : `, backup_hooks: { ${hooks}${user} }`} }`;
  const listed = site(", user: shop, databases: [1]");
  const field = ["databases", 0, "backup_hooks", "user"];
  const nobody = /^No account for the backup hooks of pg: no site of its server lists the database/;

  test.each([
    ["the account of the site that lists it", listed, hooked(), root, shop],
    ["the one that is named", listed, hooked(", user: blog"), root, blog],
    ["the service's, unless that is root", "", hooked(), shop, shop],
    ["nobody if it has none", listed, hooked("", ""), root, undefined],
  ])("%s", async (_, sites, databases, own, expected) => {
    const { accounts, complaints } = await decideAccounts(
      inventory(sites, databases),
      nothing,
      machine({}, own).source,
    );
    expect(accounts.databases.get(1)?.account).toEqual(expected);
    expect(complaints).toEqual([]);
  });

  const elsewhere = inventory(site(", databases: [1]"), hooked());
  for (const one of elsewhere.sites) one.server = 2;

  test.each([
    ["is listed by none", inventory("", hooked()), nobody],
    ["is listed on another server", elsewhere, nobody],
    ["names an unknown account", inventory(listed, hooked(", user: gone")), /has no user “gone”/],
  ])("nobody if it %s, which is an error in the file", async (_, file, message) => {
    const { complaints } = await decideAccounts(file, nothing, machine({}).source);
    expect(complaints).toEqual([{ path: field, message: expect.stringMatching(message) }]);
  });

  test("nobody if a remote server has none, or sites differ, with a message about the fix", async () => {
    const { source } = machine({});
    const decide = async (sites: string, databases: string, isRemote: boolean) =>
      (
        await decideAccounts(inventory(sites, databases), nothing, source, async () =>
          isRemote ? { ...source, whyNotAs: async () => null } : null,
        )
      ).accounts.databases.get(1);
    const problems = [
      await decide("", hooked(), true),
      await decide("", hooked(", user: gone"), true),
      await decide(`${listed}, ${site(", user: blog, databases: [1]", 2)}`, hooked(), false),
    ].map((one) => one?.problem);
    expect(problems).toEqual([
      expect.stringMatching(nobody),
      "No account for the backup hooks of pg: its server has no user “gone”.",
      "Sites with different accounts use this database: site-1, site-2. Set “backup_hooks.user” in its inventory entry.",
    ]);
  });
});

test("waits for unresponsive servers in parallel", async () => {
  const { source } = machine({});
  const far = (id: number) =>
    `{ id: ${id}, name: far-${id}, connection: { ssh: { host: a, user: b, key: agent } } }`;
  const two = parseInventory(
    `servers: [${far(1)}, ${far(2)}]\nsites: [${[1, 2].map((id) => site().replace("id: 1, server: 1", `id: ${id}, server: ${id}`)).join()}]`,
    "inventory.yaml",
  );
  const asked = new Set<number>();
  const bothAsked = Promise.withResolvers<string>();
  const { accounts } = await decideAccounts(two, nothing, source, (server) => {
    if (asked.add(server).size === 2) bothAsked.resolve("It is away.");
    return bothAsked.promise;
  });
  expect(accounts.sites.get(2)?.problem).toContain("It is away.");
});
