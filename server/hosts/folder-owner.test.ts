import { chmod, chown, lchown, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findFolderOwner, findReplacer } from "./folder-owner.ts";

const isRoot = userInfo().uid === 0;
const alice = 4001;
const bob = 4002;

/** Creates a site in /tmp, where other accounts cannot replace root's entries. */
async function makeSite() {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-owner-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const site = join(folder, "site");
  await mkdir(site);
  return { folder, site };
}

describe.runIf(isRoot)("the owner of a folder is", () => {
  test("its own owner if everything on the path belongs to root", async () => {
    const { site } = await makeSite();
    await chown(site, alice, 5002);
    expect(await findFolderOwner(site)).toEqual({ uid: alice, gid: 5002 });
    await chmod(site, 0o777);
    expect(await findFolderOwner(site)).toMatchObject({ uid: alice });
  });

  test("the owner of a parent folder, or of a link to it, if it belongs to root", async () => {
    const { folder, site } = await makeSite();
    const inside = join(site, "inside");
    await mkdir(inside);
    await chown(site, alice, alice);
    expect(await findFolderOwner(inside)).toMatchObject({ uid: alice });
    await chown(site, 0, 0);
    const link = join(folder, "current");
    await symlink("site", link);
    await lchown(link, alice, alice);
    expect(await findFolderOwner(link)).toMatchObject({ uid: alice });
    expect(await findFolderOwner(`${link}/../site`)).toMatchObject({ uid: alice });
  });

  test("uncertain if another account could replace it", async () => {
    const { folder, site } = await makeSite();
    const inside = join(site, "inside");
    await mkdir(inside);
    await chown(site, bob, bob);
    await chown(inside, alice, alice);
    expect(await findFolderOwner(inside)).toEqual({
      problem: `it belongs to user ${alice}, but user ${bob}, who owns ${site}, could replace it`,
    });
    await chown(site, 0, 0);
    await chmod(site, 0o777);
    expect(await findFolderOwner(inside)).toMatchObject({
      problem: expect.stringContaining(`may write to ${site}`),
    });
    await chmod(site, 0o775);
    expect(await findFolderOwner(inside)).toHaveProperty("problem");
    await chmod(site, 0o1777);
    expect(await findFolderOwner(inside)).toMatchObject({ uid: alice });
    expect(await findFolderOwner(folder)).toEqual({ problem: "it belongs to root" });
  });
});

test.runIf(isRoot)(
  "a folder can be replaced by whoever owns a folder or link on the path to it",
  async () => {
    const { folder, site } = await makeSite();
    const inside = join(site, "inside");
    await mkdir(inside);
    await chown(inside, alice, alice);
    expect(await findReplacer(inside, alice)).toBeNull();
    expect(await findReplacer(inside, bob)).toBeNull();
    await chown(site, bob, bob);
    expect(await findReplacer(inside, alice)).toContain(`user ${bob}, who owns ${site}, could`);
    expect(await findReplacer(inside, bob)).toBeNull();
    expect(await findReplacer(inside, 0)).toContain(`user ${bob}`);
    const link = join(folder, "current");
    await symlink("site/inside", link);
    await lchown(link, alice, alice);
    expect(await findReplacer(`${link}/x`, bob).catch(() => "not there")).toBe("not there");
    await chown(site, 0, 0);
    await chmod(site, 0o777);
    expect(await findReplacer(inside, alice)).toContain("whoever may write to");
  },
);

test("a missing folder, or one behind endless links, has no owner", async () => {
  const { folder } = await makeSite();
  await expect(findFolderOwner(join(folder, "none"))).rejects.toThrow("ENOENT");
  await symlink("loop", join(folder, "loop"));
  await expect(findFolderOwner(join(folder, "loop"))).rejects.toThrow("too many links");
});
