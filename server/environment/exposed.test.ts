import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { isLinux, isRoot, makeFolder, openProject, projectFolder } from "../testing/machine.ts";
import { exposedSecrets } from "./exposed.ts";
import { signalGroup } from "../testing/signals.ts";

const nobody = { uid: 65_534, gid: 65_534 };

test.skipIf(!isLinux)(
  "names secrets in the environment of a process or of one of its ancestors (Linux only: reads /proc)",
  async () => {
    const environment = {
      QUARTERDECK_TOKEN: "planted token",
      DATABASE_URL: "file:/etc/database",
      OPS_SLACK: "https://planted",
      HOME: "/root",
      SMTP_URL: "smtp://from-elsewhere",
      UNNAMED: "planted",
    };
    const { SMTP_URL: _, ...above } = environment;
    // The shell takes the place of npm: its child has a clean environment.
    const child = spawn(
      "sh",
      [
        "-c",
        `env -i "$0" -e 'console.log(process.pid); setInterval(() => {}, 1e6)' & echo; wait`,
        process.execPath,
      ],
      {
        env: { ...above, PATH: process.env["PATH"] },
        detached: true,
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    onTestFinished(() => signalGroup(child.pid, "SIGKILL"));
    let pid = 0;
    for await (const line of createInterface({ input: child.stdout }))
      if ((pid = Number(line)) > 0) break;
    const inventory = "webhook: env:OPS_SLACK\nurl: env:NOT_SET, env:HOME";
    expect(exposedSecrets(environment, inventory, pid)).toEqual(["QUARTERDECK_TOKEN", "OPS_SLACK"]);
    expect(exposedSecrets({ ...environment, QUARTERDECK_TOKEN: "another" }, "", pid)).toEqual([]);
  },
);

test.skipIf(!isRoot || !isLinux)(
  "warns an ordinary user once, by name and without values, about secrets that npm keeps readable, and not about files (root on Linux only: becomes that user)",
  async () => {
    const folder = await makeFolder();
    await chmod(folder, 0o711);
    const file = join(folder, "token");
    const token = "planted token of more than 32 characters";
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    await chown(file, nobody.uid, nobody.gid);
    const project = await openProject();

    /** Returns the output until it is ready or exits. An upstream needs neither a database nor a data folder. */
    const said = async (given: string) => {
      const child = spawn(
        "sh",
        [
          "-c",
          `"$0" "$1"; exit $?`,
          process.execPath.replace(projectFolder, project),
          join(project, "server/main.ts"),
        ],
        {
          ...nobody,
          cwd: "/",
          detached: true,
          env: {
            PATH: process.env["PATH"],
            PORT: "0",
            QUARTERDECK_UPSTREAM: "http://127.0.0.1:9",
            QUARTERDECK_DATA: join(folder, "data"),
            QUARTERDECK_TOKEN: given,
          },
          stdio: ["ignore", "pipe", "inherit"],
        },
      );
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        if (line.includes('"ready"')) break;
      }
      const ended = once(child, "exit");
      signalGroup(child.pid, "SIGTERM");
      await ended;
      return lines.join("\n");
    };

    const warned = await said(token);
    expect(warned.match(/every program of this account/g)).toHaveLength(1);
    expect(warned).toContain('"variables":["QUARTERDECK_TOKEN"]');
    expect(warned).not.toContain("planted");
    const quiet = await said(`file:${file}`);
    expect(quiet).toMatch(/"ready"/);
    expect(quiet).not.toMatch(/every program|planted/);
  },
);
