import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { streamOf } from "./stream-of.ts";

test("a reader gets the pieces and their error, and can stop without waiting for the next one", async () => {
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

test("an error while the pieces are closed does not end the service", async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => unheard.push(reason);
  process.on("unhandledRejection", hear);
  onTestFinished(() => void process.off("unhandledRejection", hear));
  async function* failing() {
    try {
      yield Buffer.from("a");
      yield Buffer.from("b");
    } finally {
      // Like a loop over a stream that was destroyed with an error.
      await Promise.reject(new Error("gone"));
    }
  }
  const stream = streamOf(failing(), () => undefined, { isOneByOne: true });
  await once(stream, "readable");
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.destroy(new Error("enough"));
  await closed;
  await turn();
  await turn();
  expect(unheard).toEqual([]);
});
