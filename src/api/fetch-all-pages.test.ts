import { expect, test } from "vitest";
import { toPage } from "../../contract/paging.ts";
import { fetchAllPages } from "./fetch-all-pages.ts";

const items = [1, 2, 3, 4, 5];

const pageQuery = (asked: number[]) => (page: number) => ({
  queryKey: ["listNumbers", { id: 7 }, { page: String(page) }],
  queryFn: () => {
    asked.push(page);
    const shown = items.slice((page - 1) * 2, page * 2);
    return Promise.resolve(toPage(shown, items.length, { page, perPage: 2 }, "http://x/numbers"));
  },
});

test("fetches all pages in order, each once", async () => {
  const asked: number[] = [];
  const { data } = await fetchAllPages<number>(pageQuery(asked)).queryFn();
  expect([data, asked]).toEqual([items, [1, 2, 3]]);
});

test("has a key with the same prefix as its pages, so that invalidating them invalidates it", () => {
  expect(fetchAllPages<number>(pageQuery([])).queryKey.slice(0, 2)).toEqual([
    "listNumbers",
    { id: 7 },
  ]);
});

test("returns none for a list that the service lacks", async () => {
  const none = fetchAllPages<number, null>(() => ({
    queryKey: ["listNumbers", {}, {}],
    queryFn: () => Promise.resolve(null),
  }));
  expect(await none.queryFn()).toBeNull();
});
