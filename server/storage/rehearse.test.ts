import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createLocalStorage } from "./local.ts";
import { rehearseStorage } from "./rehearse.ts";
import { makeRoot } from "./testing/every-storage.ts";

test("a rehearsal that is repeated after a kill removes what the first one left", async () => {
  const storage = createLocalStorage({ path: await makeRoot() });
  const { signal } = new AbortController();
  const keys = async () => (await Array.fromAsync(storage.list({ signal }))).map(({ key }) => key);
  // What a killed rehearsal left.
  await storage.put("shop/1/rehearsal-2", Readable.from([Buffer.from("left")]), { signal });
  const rehearse = (attempt: number | null) =>
    rehearseStorage(storage, { folder: "shop/1", attempt }, signal);
  expect(await rehearse(3)).toEqual({ details: [], keptUntil: null });
  expect(await rehearse(null)).toEqual({ details: [], keptUntil: null });
  expect(await keys()).toEqual(["shop/1/rehearsal-2"]);
  expect(await rehearse(2)).toEqual({ details: [], keptUntil: null });
  expect(await keys()).toEqual([]);
});
