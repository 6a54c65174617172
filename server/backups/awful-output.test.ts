// Tests tools whose output a text column cannot store: fake programs in PATH print it, and every outcome is stored
// nevertheless, with the tool's output.
import { chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import { isStorableText } from "../../contract/inputs.ts";
import { eachMachine } from "../ssh/testing/remote-server.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

/** NUL, an invalid byte, and a surrogate, which UTF-8 does not allow. */
const awful = String.raw`\000 and \377\355\240\200 at the end`;
const stored = /\ufffd and \ufffd+ at the end/;

const path = process.env["PATH"] ?? "";
const programs = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-programs-")));
afterAll(() => rm(programs, { recursive: true, force: true }));
let service: BackupTestService;

const standIn = async (name: string, script: string) => {
  await writeFile(join(programs, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(programs, name), 0o755);
};
/** Prints the output and ends with `ending` when called to do `what`; otherwise runs the real tar. */
const tarThat = (what: string, ending: string) =>
  standIn(
    "tar",
    `case "$*" in *--${what}*) printf 'tar: said ${awful}\\n' >&2; ${ending};; esac
PATH='${path}' exec tar "$@"`,
  );

describe.each(eachMachine({ config: `SetEnv PATH=${programs}:${path}` }))(
  "on $machine",
  ({ connectionOf, isWhole }) => {
    beforeAll(async () => {
      service = await createBackupTestService(
        {
          workerEnvironment: { PATH: `${programs}:${path}`, HOME: "/tmp" },
          secrets: { LEGACY: "mysql://root@127.0.0.1:1/legacy" },
        },
        {
          connection: await connectionOf(),
          databases: () => "  - { id: 4, server: 1, name: legacy, engine: mysql, url: env:LEGACY }",
        },
      );
    });
    afterAll(() => service?.close());
    beforeEach(async () => {
      for (const name of ["tar", "mariadb", "mysql"])
        await rm(join(programs, name), { force: true });
    });

    const site = { backupable_type: "site", backupable_id: 1 };
    const entryDetail = async (action: string, kind = "backup") => {
      const { body } = await service.json<Activity>("GET", `/api/activity?kind=${kind}`);
      return body.data.find((entry) => entry.action === action)?.detail ?? "";
    };

    test("a run that fails with such output is failed, not interrupted, and stores the output", async () => {
      const { id } = await service.installed({ ...site, name: "fails" });
      await tarThat("create", "cat >/dev/null; exit 2");
      const failed = await service.run(id);
      expect(failed).toMatchObject({ status: "failed" });
      expect(failed.status_reason).toMatch(stored);
      expect(failed.output).toMatch(stored);
      expect(failed.output).not.toContain("nterrupted");
      expect(await entryDetail("failed")).toMatch(stored);
    });

    if (!isWhole) return;

    test("a configuration whose rehearsal fails with such output becomes failed, and shows the output", async () => {
      for (const name of ["mariadb", "mysql"])
        await standIn(name, `printf 'ERROR 1045 (28000): ${awful}\\n' >&2; exit 1`);
      const { id } = await service.configuration({ backupable_id: 4 });
      const failed = await soon(async () => {
        const found = await service.show(id);
        expect(found.status).toBe("failed");
        return found;
      });
      expect(failed.status_reason).toMatch(stored);
      expect(isStorableText(failed.status_reason ?? "")).toBe(true);
      expect(await entryDetail("install failed")).toMatch(stored);
    });

    test("a run that succeeds despite such output is finished, and stores the output", async () => {
      const { id } = await service.installed({ ...site, name: "warns" });
      await standIn(
        "tar",
        `case "$*" in *--create*) printf 'tar: Warning: ${awful}\\n' >&2;; esac
PATH='${path}' exec tar "$@"`,
      );
      const finished = await service.run(id);
      expect(finished).toMatchObject({ status: "finished" });
      expect(finished.output).toMatch(stored);
    });

    test("a restore and a drill that fail with such output are failed, and store the output", async () => {
      const { id } = await service.installed({ ...site, name: "back" });
      const backup = await service.run(id);
      expect(backup.status, backup.output).toBe("finished");
      await tarThat("extract", "exit 2");

      await service.call("POST", `/api/backup/${backup.id}/drill`);
      const drilled = await soon(async () => {
        const found = await service.backup(backup.id);
        expect(found.drill_status).toBe("failed");
        return found;
      });
      expect(drilled.drill_output).toMatch(stored);

      await soon(async () =>
        expect((await service.call("PUT", `/api/backup/${backup.id}`)).status).toBe(202),
      );
      const restored = await service.restored(backup.id, "failed");
      expect(restored.restore_output).toMatch(stored);
      expect(restored.restore_output).not.toContain("nterrupted");
    });
  },
);
