// Tests that changing one entry of a hand-written file leaves everything else.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import type { InventoryKind } from "../../contract/inventory/entries.ts";
import { isLongForm } from "../testing/long-form.ts";
import { makeSeed } from "../testing/random.ts";
import { EditError, editText, linesOf, type Edit } from "./edit-text.ts";

const seed = makeSeed("EDIT_SEED");
const keys = new Set(["id", "name", "server", "root", "user", "databases", "connection"]);

const files = {
  "of a first start": `# yaml-language-server: $schema=./inventory.schema.json
# What Quarterdeck looks after.

servers:
  - { id: 1, name: "host", time_zone: Europe/Berlin, connection: local }

# A sample that really works. Put your own sites beside it or in its place, for instance:
#   - { id: 2, server: 1, name: shop.example.com, root: /srv/shop, artisan: php artisan }
sites:
  - { id: 1, server: 1, name: sample, root: "/var/lib/quarterdeck/sample-site", artisan: node artisan, databases: [1], user: root }

databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: "/var/lib/quarterdeck/orders.sqlite" }
`,
  "in blocks, four deep, with its own spacing": `servers:   # all of them
    -   id: 1
        name: 'web 1'      # the old one
        connection:
            ssh:
                host: 10.0.0.5
                user: deploy   # not root
                key: "file:~/.ssh/id_ed25519"

    # behind the bastion
    -   id: 2
        name: web-2
        connection: local

sites:

    -   id: 1
        server: 1
        name: shop
        root: /srv/shop
        owner: anna   # nobody knows this key


# the end
`,
  "without indentation": `servers:
- id: 1
  name: here
  connection: local
sites:
- {id: 1, server: 1, name: "#1 # shop", root: /srv/shop}
# between
- {id: 2, server: 1,
   name: blog, # the blog
   root: /srv/blog}
`,
  "with anchors": `servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: &root /srv/shop }
  - { id: 2, server: 1, name: blog, root: *root }
`,
  "in one line": `{ servers: [{ id: 1, name: here, connection: local }], sites: [] }\n`,
  "with Windows' line ends":
    "servers:\r\n  - { id: 1, name: here, connection: local } # here\r\nsites:\r\n  - { id: 1, server: 1, name: shop, root: /srv }\r\n",
};

const read = (text: string): Record<string, unknown[]> => parseDocument(text).toJS();
const comments = (text: string) => text.match(/(?<=^|\s)# .*$/gm) ?? [];

const entry = fc.record(
  {
    id: fc.integer({ min: 1, max: 99 }),
    server: fc.constantFrom(1, 2),
    name: fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom(
        "- a",
        "# b",
        "a: b",
        "[ c ]",
        "'",
        '"',
        "yes",
        "null",
        "07",
        "é 😀",
        "a # b",
        "*x",
        "&x",
        "!t",
        "{",
        "%",
      ),
    ),
    root: fc.constantFrom("/srv/a", "/srv/b c", "~/d"),
    databases: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
    connection: fc.constantFrom<unknown>("local", { ssh: { host: "a", user: "b", key: "agent" } }),
  },
  { requiredKeys: ["id", "name"] },
);

describe.each(Object.entries(files))("a file %s", (_name, text) => {
  test(`contains the intended values after any change, and nothing else changed (EDIT_SEED=${seed})`, () => {
    const before = read(text);
    const kinds: InventoryKind[] = ["servers", "sites", "databases"];
    const edit = fc
      .tuple(
        fc.constantFrom(...kinds),
        fc.constantFrom("add", "replace", "remove"),
        fc.nat(),
        entry,
      )
      .map(([kind, action, place, entry]): Edit => {
        const many = before[kind]?.length ?? 0;
        const index = many === 0 ? 0 : place % many;
        if (action === "add" || many === 0) return { kind, action: "add", entry };
        return action === "remove"
          ? { kind, action, index }
          : { kind, action: "replace", index, entry, keys };
      });
    fc.assert(
      fc.property(edit, (edit) => {
        let after: string;
        try {
          after = editText(text, edit);
        } catch (error) {
          // An entry that another one refers to (by an anchor) can neither be removed nor changed.
          if (error instanceof EditError && text.includes("&root")) return;
          throw error;
        }
        const now = read(after);
        const expected = structuredClone(before);
        const list = (expected[edit.kind] ??= []);
        if (edit.action === "add") list.push(edit.entry);
        else if (edit.action === "remove") list.splice(edit.index, 1);
        else {
          const unknown = Object.entries(Object(list[edit.index])).filter(
            ([key]) => !keys.has(key),
          );
          list[edit.index] = { ...Object.fromEntries(unknown), ...edit.entry };
        }
        expect(now).toEqual(expected);
        if (edit.action === "add")
          expect(comments(after).length).toBeGreaterThanOrEqual(comments(text).length);
        // Lines of other entries stay exactly as they are.
        if (text.includes("\r") || text.startsWith("{")) return;
        const names = new Set([
          "# the end",
          "# between",
          "# behind the bastion",
          "# What Quarterdeck looks after.",
        ]);
        for (const line of text.split("\n").filter((one) => names.has(one.trim())))
          expect(after.split("\n")).toContain(line);
      }),
      { seed, numRuns: isLongForm ? 3000 : 100 },
    );
  });
});

test("a changed value changes only its line", () => {
  const text = files["in blocks, four deep, with its own spacing"];
  const after = editText(text, {
    kind: "sites",
    action: "replace",
    index: 0,
    entry: { id: 1, server: 1, name: "shop", root: "/srv/new" },
    keys,
  });
  expect(after).toContain("    -   id: 1\n        name: 'web 1'      # the old one\n");
  expect(after).toContain("root: /srv/new\n");
  expect(after).toContain("owner: anna # nobody knows this key");
});

test("adding an entry and removing it again leaves the file unchanged", () => {
  for (const text of Object.values(files).slice(0, 4)) {
    const many = read(text)["servers"]?.length ?? 0;
    const added = editText(text, { kind: "servers", action: "add", entry: { id: 9, name: "x" } });
    expect(editText(added, { kind: "servers", action: "remove", index: many })).toBe(text);
  }
});

test("an empty list gets its first entry in its place", () => {
  const text =
    "servers: # all\n  - { id: 1, name: a, connection: local }\nsites: # none yet\n  # - { id: 2, server: 1, name: old, root: /srv/old }\ndatabases:\n";
  const entry = { id: 3, server: 1, name: "shop", root: "/srv/shop" };
  expect(editText(text, { kind: "sites", action: "add", entry })).toBe(
    text.replace(
      "# none yet\n",
      "# none yet\n  - { id: 3, server: 1, name: shop, root: /srv/shop }\n",
    ),
  );
});

test("an entry that another one references by an anchor cannot be removed", () => {
  expect(() =>
    editText(files["with anchors"], { kind: "sites", action: "remove", index: 0 }),
  ).toThrow(EditError);
});

test("the lines to paste are as short as the entry is", () => {
  expect(linesOf("sites", { id: 2, server: 1, name: "a: b", databases: [1, 2] })).toBe(
    'sites:\n  - { id: 2, server: 1, name: "a: b", databases: [1, 2] }\n',
  );
  expect(linesOf("servers", { id: 2, connection: { ssh: { host: "a" } } })).toBe(
    "servers:\n  - id: 2\n    connection:\n      ssh:\n        host: a\n",
  );
});
