// A folder that several work in at once.
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { isLongForm } from "../testing/long-form.ts";
import { createLocalStorage } from "./local.ts";
import { makeRoot } from "./testing/every-storage.ts";

const whole = { signal: new AbortController().signal };
const content = (text: string) => Readable.from([Buffer.from(text)]);

test("a file is stored while the last one beside it is removed, with their folder", async () => {
  const storage = createLocalStorage({ path: await makeRoot() });
  for (let count = 0; count < (isLongForm ? 100 : 20); count++) {
    await storage.put("a/1/b", content("x"), whole);
    await Promise.all([storage.remove("a/1/b"), storage.put("a/1/c", content("x"), whole)]);
    await Promise.all([storage.remove("a/1/c"), storage.replace("a/1/d", Buffer.from("x"), whole)]);
    expect(await storage.size("a/1/d")).toBe(1);
    await storage.remove("a/1/d");
  }
});
