// `token` with the operator's own database; the packed tarball is tested with the embedded one.
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../config.ts";
import { administer, createDatabase, databaseUrl } from "../testing/service.ts";
import { tokenCommand } from "./token.ts";

async function runToken(environment: Record<string, string>): Promise<string> {
  const said: string[] = [];
  const ends: (() => void | Promise<void>)[] = [];
  try {
    await tokenCommand.run({
      argument: "",
      environment,
      isRoot: false,
      options: new Set(),
      showProgress: () => undefined,
      nodeVersion: process.version,
      runtime: process.execPath,
      setExitCode: () => undefined,
      say: (line) => said.push(line),
      readInput: async () => "",
      onEnd: (end) => ends.push(end),
    });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
  return said.join("\n");
}

async function emptyDatabase(): Promise<string> {
  const name = await createDatabase();
  onTestFinished(() => administer(`drop database ${name} with (force)`));
  return databaseUrl(name);
}

test("prints the address of the service", async () => {
  const DATABASE_URL = await emptyDatabase();
  const linkOf = async (more: Record<string, string>) =>
    / (http\S+)#code=\w{28}\n/.exec(await runToken({ DATABASE_URL, ...more }))?.[1];
  expect(await linkOf({})).toBe("http://localhost:4000/");
  expect(await linkOf({ HOST: "::", PORT: "81" })).toBe("http://localhost:81/");
  expect(await linkOf({ HOST: "10.0.0.5" })).toBe("http://10.0.0.5:4000/");
  expect(await linkOf({ QUARTERDECK_PUBLIC_URL: "https://ops.example.com/" })).toBe(
    "https://ops.example.com/",
  );
});

test("refuses if another service manages the tokens, and if there is no database", async () => {
  await expect(runToken({ QUARTERDECK_UPSTREAM: "https://ops.example.com" })).rejects.toThrow(
    "tokens belong to https://ops.example.com",
  );
  const missing = runToken({ QUARTERDECK_DATA: "/no/such/folder" });
  await expect(missing).rejects.toThrow(ConfigError);
  await expect(missing).rejects.toThrow("There is no embedded database in /no/such/folder");
});
