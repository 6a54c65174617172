// For the tests: tasks that report what their process can do.
import { readFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { text } from "node:stream/consumers";
import { createLocalHost } from "../local.ts";
import { defineTask } from "../task.ts";

export const tellIdentity = defineTask(import.meta.url, "tellIdentity", async () => {
  let canReturn = true;
  try {
    process.setuid?.(0);
  } catch {
    canReturn = false;
  }
  return {
    uids: [process.getuid?.(), process.geteuid?.()],
    groups: process.getgroups?.() ?? [],
    canReturn,
    environment: Object.keys(process.env).filter((name) => !name.startsWith("NODE_CHANNEL")),
  };
});

export const readText = defineTask(import.meta.url, "readText", (path: string) =>
  readFile(path, "utf8"),
);

export const passOn = defineTask(
  import.meta.url,
  "passOn",
  async (greeting: string, { input, output, say, signal }) => {
    say(greeting);
    await pipeline(input, output, { end: false, signal });
    return "passed on";
  },
);

export const countInput = defineTask(
  import.meta.url,
  "countInput",
  async (_: null, { input }) => (await text(input)).length,
);

export const waitForAbort = defineTask(
  import.meta.url,
  "waitForAbort",
  (_: null, { say, signal }) =>
    new Promise<void>((_resolve, reject) => {
      const timer = setInterval(() => undefined, 1000);
      signal.addEventListener("abort", () => {
        clearInterval(timer);
        reject(new Error("cleaned up"));
      });
      say(String(process.pid));
    }),
);

/** Returns the error that a service running as the account gets when it runs something as another one. */
export const tryOtherAccount = defineTask(
  import.meta.url,
  "tryOtherAccount",
  async (uid: number) => {
    try {
      createLocalHost({}).as({ uid, gid: uid, name: "", home: "/" });
      return "allowed";
    } catch (error) {
      return String(error);
    }
  },
);
