import { expect, test } from "vitest";
import { databaseName, siteName, siteRoot } from "./names.ts";

test("a site gets the name of the nearest meaningful folder", () => {
  expect(siteName("/srv/shop")).toBe("shop");
  expect(siteName("/var/www/shop.example.com/current")).toBe("shop.example.com");
  expect(siteName("/home/forge/shop.example.com")).toBe("shop.example.com");
  expect(siteName("/var/www/html")).toBe("html");
  expect(siteName("/www")).toBe("www");
});

test("the folder of a site with releases is the link to the newest one", () => {
  expect(siteRoot("/srv/shop/artisan")).toBe("/srv/shop");
  expect(siteRoot("/srv/shop/releases/20260101/artisan")).toBe("/srv/shop/current");
});

test("a database gets the name of its site, and of its file unless that is Laravel's default", () => {
  expect(databaseName("/srv/shop/database/database.sqlite", "/srv/shop")).toBe("shop");
  expect(databaseName("/srv/shop/storage/queue.db", "/srv/shop")).toBe("shop queue");
});
