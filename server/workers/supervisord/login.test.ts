// Debian's supervisord requires a login, whose password its configuration has as text or as a hash.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { programOf, soon } from "../supervisor/testing/supervisor.ts";
import { isUp, makeManager } from "./testing/manager.ts";
import { startSupervisord } from "./testing/supervisord.ts";

const password = "s3cret:with;signs";

test.for([
  ["as text", password],
  ["as a hash", `{SHA}${createHash("sha1").update(password).digest("hex")}`],
] as const)("a password that is stored %s opens supervisord", async ([, stored], context) => {
  const { onTestFinished } = context;
  const supervisord = await startSupervisord();
  onTestFinished(() => supervisord.close());
  await supervisord.stop();
  const { config } = supervisord;
  const login = (text: string) => `username=admin\npassword=${text}`;
  const open = readFileSync(config, "utf8");
  writeFileSync(
    config,
    open
      .replace("chmod=0700", login(stored))
      .replace("[supervisorctl]", `[supervisorctl]\n${login(password)}`),
  );
  const daemon = spawn("supervisord", ["-c", config], { stdio: "ignore" });
  onTestFinished(async () => {
    const ended = once(daemon, "exit");
    daemon.kill("SIGTERM");
    await ended;
  });
  const manager = makeManager(context, supervisord);
  await manager.resume([]);
  manager.start(programOf(1, {}));
  await expect.poll(isUp(manager, 1), soon).toBe(true);

  if (stored === password) return;
  writeFileSync(config, open.replace("chmod=0700", login(stored)));
  const unable = makeManager(context, supervisord);
  await unable.resume([]);
  unable.start(programOf(2, {}));
  await expect
    .poll(() => unable.away(2), soon)
    .toMatchObject({ reason: expect.stringContaining("Add “username” and “password”") });
});
