// Parses the output of `rclone lsjson`: a JSON array with one object per line.
import { z } from "zod/mini";
import { StorageError, type StoredObject } from "./storage.ts";

const line = z.object({ Path: z.string(), Size: z.int() });

/** @throws StorageError where rclone does not report a size */
export function parseListed(output: string): StoredObject[] {
  const objects = output.split("\n").flatMap(parseLine);
  const unsized = objects.find(isUnsized);
  if (unsized !== undefined)
    throw new StorageError(`rclone doesn't know the size of ${unsized.key}.`);
  return objects;
}

/** Skips files without a size, which cannot be backups, such as Google documents in the same folder. */
export async function* readListed(output: AsyncIterable<Buffer>): AsyncGenerator<StoredObject> {
  const sized = (text: string) =>
    text
      .split("\n")
      .flatMap(parseLine)
      .filter((object) => !isUnsized(object));
  let held = Buffer.alloc(0);
  for await (const piece of output) {
    held = Buffer.concat([held, piece]);
    const end = held.lastIndexOf(10) + 1;
    yield* sized(held.subarray(0, end).toString());
    held = held.subarray(end);
  }
  yield* sized(held.toString());
}

const isUnsized = ({ sizeBytes }: StoredObject): boolean => sizeBytes < 0;

function parseLine(text: string): StoredObject[] {
  const content = text.trim().replace(/,$/, "");
  if (content === "" || content === "[" || content === "]") return [];
  const { Path: key, Size: sizeBytes } = line.parse(JSON.parse(content));
  return [{ key, sizeBytes }];
}
