// Tests that extracting as an ordinary account keeps the groups that the account is a member of.
import { chmod, chown, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isLinux, isRoot, makeFolder, run } from "./testing/fixtures.ts";
import { createArguments, extractArguments, judge } from "./tar.ts";

/** An account without a name, and a group that it is a member of. */
const account = 12_345;
const group = 23_456;

test.skipIf(!isLinux || !isRoot)(
  "an ordinary account restores the groups that it is a member of, and reports the others",
  async () => {
    const folder = await makeFolder();
    const [from, into] = [join(folder, "from"), join(folder, "into")];
    for (const path of [from, into]) await mkdir(path);
    for (const [name, owner] of Object.entries({ own: account, shared: group, foreign: 34_567 })) {
      await writeFile(join(from, name), name);
      await chown(join(from, name), account, owner);
    }
    await chown(into, account, account);
    await chmod(folder, 0o711);
    const as = ["setpriv", `--reuid=${account}`, `--regid=${account}`, `--groups=${group}`];
    const archive = join(folder, "archive.tar");
    const [tar, ...create] = createArguments(from);
    await run("sh", [
      "-c",
      `printf 'own\\0shared\\0foreign\\0' | "$0" "$@" > ${archive}`,
      tar,
      ...create,
    ]);
    const { stderr } = await run("sh", [
      "-c",
      `"$0" "$@" < ${archive} || true`,
      ...as,
      ...extractArguments(into, false),
    ]);

    const groupOf = async (name: string) => (await stat(join(into, name))).gid;
    expect(await groupOf("own")).toBe(account);
    expect(await groupOf("shared")).toBe(group);
    expect(await groupOf("foreign")).toBe(account);
    const said = stderr.trim().split("\n").map(judge);
    expect(said.filter(({ verdict }) => verdict !== "noise")).toMatchObject([
      { verdict: "owner", text: expect.stringContaining("foreign") },
    ]);
  },
);
