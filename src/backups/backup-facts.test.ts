import { expect, test } from "vitest";
import { formatBytes } from "./backup-facts.ts";

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [812, "812 bytes"],
  [1_000, "1 kB"],
  [4_123_456, "4.12 MB"],
  [45_678_901, "45.7 MB"],
  [2_000_000_000, "2 GB"],
  [5e18, "5000 PB"],
])("%i bytes are %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
