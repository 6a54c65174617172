import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { streamOf } from "./stream-of.ts";

test("a reader gets the pieces and their error, and leaves without waiting for the next one", async () => {
  const ends: string[] = [];
  const open = (name: string, pieces: AsyncGenerator<Buffer>) =>
    streamOf(pieces, () => ends.push(name));
  async function* whole() {
    yield Buffer.from("a");
    yield Buffer.alloc(0);
    yield Buffer.from("b");
  }
  expect((await buffer(open("whole", whole()))).toString()).toBe("ab");
  async function* broken() {
    yield Buffer.from("a");
    throw new Error("gone");
  }
  await expect(buffer(open("broken", broken()))).rejects.toThrow("gone");
  async function* stalled() {
    yield Buffer.from("a");
    await new Promise(() => undefined);
  }
  const stream = open("stalled", stalled());
  await once(stream, "readable");
  stream.destroy();
  await once(stream, "close");
  expect(ends).toEqual(["whole", "broken", "stalled"]);
});
