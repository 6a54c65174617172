import { expect, test } from "vitest";
import { diagnose, diagnoseLine } from "./disk-errors.ts";

const disk = { place: "/var/backups", account: "backup" };

test.each([
  ["EACCES", "cannot create ./b.partial: Permission denied", /may not be used by backup/],
  ["EPERM", "mkdir: cannot create directory: Operation not permitted", /may not be used by backup/],
  ["ENOENT", "ls: cannot access '/var/backups': No such file or directory", /is not there. Create/],
  ["ENOTDIR", "ls: cannot access '/var/backups': Not a directory", /isn't a folder/],
  ["ENOSPC", "dd: error writing 'standard output': No space left on device", /No space left/],
  ["EROFS", "mkdir: cannot create directory: Read-only file system", /read-only/],
  ["EDQUOT", "dd: error writing 'standard output': Disk quota exceeded", /quota/],
  ["EIO", "dd: error reading './b': Input/output error", /reports an error/],
  ["EFBIG", "dd: error writing 'standard output': File too large", /no file as large/],
  [
    "ENOTCONN",
    "ls: cannot access 'b': Transport endpoint is not connected",
    /sshfs.* Mount it anew/,
  ],
  ["ENOTCONN", "ls: b: Socket not connected", /sshfs.* Mount it anew/],
  ["ESTALE", "ls: cannot access 'b': Stale file handle", /no longer knows .* Mount it anew/],
  ["EHOSTDOWN", "ls: cannot access 'b': Host is down", /server of .* doesn't respond/],
])("reports %s of a disk with what to do, here and on a remote server", (code, line, words) => {
  const error = Object.assign(new Error(code), { code, syscall: "open" });
  const expected = { name: "StorageError", message: expect.stringMatching(words) };
  expect(diagnose(error, disk)).toMatchObject(expected);
  expect(diagnoseLine(line, disk)).toMatchObject(expected);
});

test("returns any other error unchanged", () => {
  const error = new Error("the dump failed");
  expect(diagnose(error, disk)).toBe(error);
  expect(diagnoseLine("sh: 1: sha256sum: not found", disk)).toBeNull();
});
