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
  ["that nobody foresaw", new Error("x is undefined"), "Unexpected error: x is undefined"],
])("a failure %s is told", (_, error, text) => {
  expect(failureMessage(error)).toBe(text);
});
