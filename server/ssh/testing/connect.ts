// Connects to a test's sshd until the test ends.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createConnection, type Connection } from "../connection.ts";
import { createLimiter } from "../limiter.ts";
import type { SshTarget } from "../target.ts";
import type { TestSshd } from "./sshd.ts";

/** @param answerMs timeout of one response, in milliseconds */
export async function connectTo(
  sshd: TestSshd,
  target: Partial<SshTarget> = {},
  answerMs = 20_000,
): Promise<Connection> {
  const folder = await mkdtemp(join(tmpdir(), "qd-"));
  const connection = createConnection({
    target: sshd.target(target),
    folder,
    environment: { PATH: process.env["PATH"] ?? "", HOME: "/nowhere" },
    attempts: createLimiter(10),
    answerMs,
  });
  onTestFinished(async () => {
    await connection.close();
    await rm(folder, { recursive: true, force: true });
  });
  return connection;
}
