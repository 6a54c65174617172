// Tests that diffs of inventories mask secrets that were written into the file.
import { expect, test } from "vitest";
import { diffText, mask } from "./text-diff.ts";

test.each([
  ["a block", "key: |\n  -----BEGIN\n\n  planted\n\nname: x\n", "key: …\n  …\n\n  …\n\nname: x\n"],
  ["a block in an entry", "- url: >-\n    planted\n  name: x\n", "- url: …\n    …\n  name: x\n"],
  ["a block in a map", "  ssh:\n    key: |2\n      planted\n", "  ssh:\n    key: …\n      …\n"],
  ["several lines", "  url: one\n    planted\n  name: x\n", "  url: …\n    …\n  name: x\n"],
  ["a line of its own", "  url:\n    planted\n  name: x\n", "  url:\n    …\n  name: x\n"],
  ["a comma in it", "  secret_key: a,planted\n", "  secret_key: …\n"],
  ["a longer name", "  drill_identity: planted\n", "  drill_identity: …\n"],
  ["a brace in it", "  secret_key: a}planted\n", "  secret_key: …\n"],
  ["the word agent before it", "  key: agent planted\n", "  key: …\n"],
  ["a place among others", "- { url: planted, name: x }\n", "- { url: …, name: x }\n"],
  ["quotes", '- { url: "a, \'planted", name: x }\n', "- { url: …, name: x }\n"],
])("masks a secret with %s", (_, text, masked) => {
  expect(mask(text)).toBe(masked);
  expect(diffText("", text, "file")).not.toContain("planted");
});

test.each([
  "  url: env:SHOP_URL\n  name: x\n",
  "  url:\n    file:secrets/url\n  name: x\n",
  "  key: agent\n  user: u\n",
  "  connection: { ssh: { host: h, config: /etc/ssh/deck } }\n",
  "  key: agent # of the operator\n",
  "- { url: file:secrets/databases-1-url-0a1b2c3d4e5f, name: x }\n",
  "  drills:\n    postgres: env:DRILLS\n",
  "  connection:\n    ssh:\n      host: h\n",
])("shows %j, which is no secret", (text) => {
  expect(mask(text)).toBe(text);
});
