import { afterEach, expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { queryClient } from "../../api/query.ts";
import { sessions } from "../../api/session.ts";
import { load, loadFresh } from "./loading.ts";

const request = new Request("http://localhost/workers/7/edit");
const queryKey = ["showWorker", { id: 7 }, {}];

afterEach(() => {
  queryClient.clear();
  sessions.end();
});

function connect() {
  sessions.connect({ address: "", token: "1|qd_secret" }, { remember: false });
  queryClient.setQueryData(queryKey, "cached");
}

test("loads the present state for a form, and the cached one for a page", async () => {
  connect();
  const query = { queryKey, queryFn: async () => "present" };
  expect(await load(request, query)).toBe("cached");
  expect(await loadFresh(request, query)).toBe("present");
});

test("loads the cached state for a form only where the service fails", async () => {
  connect();
  const failing = (error: ApiError) => ({
    queryKey,
    queryFn: async (): Promise<string> => {
      throw error;
    },
  });
  expect(await loadFresh(request, failing(new ApiError(503, "Not ready.")))).toBe("cached");
  const gone = new ApiError(404, "Not found.");
  await expect(loadFresh(request, failing(gone))).rejects.toBe(gone);
});
