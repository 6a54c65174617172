import { expect, test } from "vitest";
import { failureMessage } from "./failure-message.ts";
import { SourceError } from "./sources/source.ts";

const lost = new Error("Client has encountered a connection error and is not queryable");

test.each([
  ["of the source", new SourceError("The folder is gone."), "The folder is gone."],
  [
    "of the service's own database",
    new Error("Failed query: select 1", { cause: lost }),
    "Quarterdeck couldn't use its own database. The database is not responding. Quarterdeck reconnects automatically. If the problem persists, check the database's log.",
  ],
  [
    "of a full disk",
    Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }),
    "No space left on Quarterdeck's machine. Free some space, then try again.",
  ],
  [
    "of a file that is damaged",
    Object.assign(new Error("incorrect data check"), { code: "Z_DATA_ERROR" }),
    "The stored file can't be unpacked: it is damaged.",
  ],
  ["that nobody foresaw", new Error("x is undefined"), "Unexpected error: x is undefined"],
])("describes a failure %s", (_, error, text) => {
  expect(failureMessage(error)).toBe(text);
});
