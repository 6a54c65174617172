import { expect, test } from "vitest";
import { placeOf } from "./storage-place.ts";

const rclone = (remote: string) =>
  placeOf({ id: 1, name: "box", type: "rclone", remote }, new Set());

const ssh = { host: "box.example.com", user: "u1", key: "env:KEY", host_key: "SHA256:x" };
const sftp = (path: string) => placeOf({ id: 1, name: "box", type: "sftp", path, ssh }, new Set());

test.each([
  { name: "a remote of rclone without a path", around: rclone("box:"), inside: rclone("box:a/b") },
  { name: "a folder of a remote", around: rclone("box:a"), inside: rclone("box:a/a/b/") },
  { name: "the folder of a login", around: sftp("."), inside: sftp("a/b") },
  { name: "a folder below that of a login", around: sftp("./c/"), inside: sftp("c//a/b") },
  { name: "all that a login sees", around: sftp("/"), inside: sftp("/a/b") },
])("the location of a folder in $name starts with that of its parent", ({ around, inside }) => {
  expect(inside.startsWith(around)).toBe(true);
  expect(inside.slice(around.length)).toBe("a/b/");
});

test("folders whose names share a prefix have separate locations", () => {
  expect(rclone("box:ab").startsWith(rclone("box:a"))).toBe(false);
  expect(sftp("ab").startsWith(sftp("a"))).toBe(false);
});

test("an endpoint has one location, however it is written", () => {
  const s3 = (endpoint: string) =>
    placeOf(
      {
        id: 1,
        name: "s",
        type: "s3",
        bucket: "b",
        endpoint,
        access_key: "env:A",
        secret_key: "env:B",
      },
      new Set(),
    );
  const others = [
    "https://S3.Example.com",
    "https://s3.example.com:443/",
    "https://s3.example.com/",
  ];
  for (const other of others) expect(s3(other)).toBe(s3("https://s3.example.com"));
});
