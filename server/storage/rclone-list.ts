// What `rclone lsjson` writes: an array with an object a line.
import { z } from "zod/mini";
import { StorageError, type StoredObject } from "./storage.ts";

const line = z.object({ Path: z.string(), Size: z.int() });

export const parseListed = (output: string): StoredObject[] =>
  output.split("\n").flatMap(parseLine);

export async function* readListed(output: AsyncIterable<Buffer>): AsyncGenerator<StoredObject> {
  let held = Buffer.alloc(0);
  for await (const piece of output) {
    held = Buffer.concat([held, piece]);
    const end = held.lastIndexOf(10) + 1;
    yield* parseListed(held.subarray(0, end).toString());
    held = held.subarray(end);
  }
  yield* parseListed(held.toString());
}

function parseLine(text: string): StoredObject[] {
  const content = text.trim().replace(/,$/, "");
  if (content === "" || content === "[" || content === "]") return [];
  const { Path: key, Size: sizeBytes } = line.parse(JSON.parse(content));
  // Some services don't say, and nothing can be held against that.
  if (sizeBytes < 0) throw new StorageError(`rclone doesn't know the size of ${key}.`);
  return [{ key, sizeBytes }];
}
