import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import { accountOf } from "./account.ts";
import { makeFolder } from "./testing.ts";

const isRoot = process.geteuid?.() === 0;
const alice = 4001;
const bob = 4002;

function makeSite(context: Pick<TestContext, "onTestFinished">) {
  const folder = makeFolder(context);
  const passwd = join(folder, "passwd");
  writeFileSync(passwd, "root:x:0:0::/root:/bin/sh\nalice:x:4001:5001::/home/alice:/bin/sh\n");
  const site = join(folder, "site");
  mkdirSync(site);
  return { folder, site, account: (directory = site) => accountOf(directory, passwd) };
}

describe("As root, a worker runs", () => {
  test.runIf(isRoot)("as the owner of its folder", (context) => {
    const { site, account } = makeSite(context);
    chownSync(site, alice, 5002);
    expect(account()).toEqual({
      uid: alice,
      gid: 5002,
      environment: { HOME: "/home/alice", USER: "alice", LOGNAME: "alice" },
    });
  });

  test.runIf(isRoot)(
    "with the group of the account where the folder's group is root's",
    (context) => {
      const { site, account } = makeSite(context);
      chownSync(site, alice, 0);
      expect(account()).toMatchObject({ uid: alice, gid: 5001 });
    },
  );

  test.runIf(isRoot)("without a home where /etc/passwd does not know the owner", (context) => {
    const { site, account } = makeSite(context);
    chownSync(site, bob, 0);
    expect(account()).toEqual({ uid: bob, gid: bob, environment: {} });
  });

  test.runIf(isRoot)("as root in a folder that only root could have put there", (context) => {
    const { account } = makeSite(context);
    expect(account()).toMatchObject({ uid: 0, environment: { HOME: "/root" } });
  });

  test.runIf(isRoot)(
    "as whoever owns the way to a folder of root's, who could replace it",
    (context) => {
      const { site, account } = makeSite(context);
      mkdirSync(join(site, "inside"));
      chownSync(site, alice, alice);
      expect(account(join(site, "inside"))).toMatchObject({ uid: alice });
    },
  );

  test.runIf(isRoot)("as whoever owns a link to a folder of root's", (context) => {
    const { folder, account } = makeSite(context);
    const link = join(folder, "current");
    symlinkSync("site", link);
    expect(account(link)).toMatchObject({ uid: 0 });
    lchownSync(link, alice, alice);
    expect(account(link)).toMatchObject({ uid: alice });
    expect(account(`${link}/../site`)).toMatchObject({ uid: alice });
  });

  test.runIf(isRoot)("not at all in a folder of root's that others may write to", (context) => {
    const { site, account } = makeSite(context);
    for (const [mode, gid] of [
      [0o777, 0],
      [0o1777, 0],
      [0o775, alice],
    ] as const) {
      chownSync(site, 0, gid);
      chmodSync(site, mode);
      expect(() => account()).toThrow("others may write to it");
    }
    chownSync(site, 0, 0);
    chmodSync(site, 0o775);
    expect(account()).toMatchObject({ uid: 0 });
  });
});

test("A folder that is not there, or behind links without an end, has no account", (context) => {
  const { folder, account } = makeSite(context);
  expect(() => account(join(folder, "none"))).toThrow("ENOENT");
  symlinkSync("loop", join(folder, "loop"));
  expect(() => account(join(folder, "loop"))).toThrow("too many links");
});
