import { afterEach, describe, expect, test, vi } from "vitest";
import { ApiError, messageOf } from "./api-error.ts";
import { call, callAs } from "./client.ts";
import { sessions } from "./session.ts";

const session = { address: "https://ops.example.com", token: "1|qd_secret" };

/** Replaces `fetch`. */
function answerWith(make: () => Response | Promise<Response>) {
  const network = vi.fn<typeof fetch>(async () => make());
  vi.stubGlobal("fetch", network);
  return network;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });

const failure = async (run: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await run.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error("expected an ApiError", { cause: error });
  return error;
};

const site = { id: 3, server_id: 1, name: "shop", root: "/srv/shop", artisan: ["php", "artisan"] };

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  sessions.end();
});

test("sends the token in a header and never in the URL", async () => {
  const network = answerWith(() => json(200, site));
  await callAs(session, "showSite", { id: 3 });
  const [url, init] = network.mock.calls[0] ?? [];
  expect(url).toBe("https://ops.example.com/api/site/3");
  expect(new Headers(init?.headers).get("authorization")).toBe("Bearer 1|qd_secret");
});

test("puts the query of a list into the URL", async () => {
  const network = answerWith(() => json(404, { message: "Not found." }));
  await failure(callAs(session, "listWorkers", { id: 3 }, { query: { page: "2" } }));
  expect(network.mock.calls[0]?.[0]).toBe("https://ops.example.com/api/site/3/workers?page=2");
});

test("accepts a response with unknown fields", async () => {
  answerWith(() => json(200, { ...site, colour: "teal" }));
  expect(await callAs(session, "showSite", { id: 3 })).toEqual(site);
});

test("accepts another success status", async () => {
  answerWith(() => json(203, site));
  expect(await callAs(session, "showSite", { id: 3 })).toEqual(site);
});

test("accepts a response without a body", async () => {
  answerWith(() => new Response(null, { status: 204 }));
  expect(await callAs(session, "stopWorker", { id: 7 })).toBeUndefined();
});

test("reports a response that violates the interface as unreadable, instead of crashing", async () => {
  answerWith(() => json(200, { ...site, server_id: "one" }));
  expect(await failure(callAs(session, "showSite", { id: 3 }))).toMatchObject({
    status: "unreadable",
  });
  answerWith(() => new Response("<html>a proxy's page</html>"));
  expect(await failure(callAs(session, "showSite", { id: 3 }))).toMatchObject({
    status: "foreign",
  });
});

test("reports a missing response as unreachable", async () => {
  answerWith(() => Promise.reject(new TypeError("Failed to fetch")));
  expect(await failure(callAs(session, "showSite", { id: 3 }))).toMatchObject({
    status: "unreachable",
  });
});

test("keeps the errors of a 422 by field", async () => {
  const errors = { queue: ["The queue field is required."] };
  answerWith(() => json(422, { message: "The queue field is required.", errors }));
  expect(await failure(callAs(session, "showSite", { id: 3 }))).toMatchObject({
    status: 422,
    fields: errors,
  });
});

test("keeps the request id and the Retry-After of an error", async () => {
  answerWith(() => json(429, {}, { "x-request-id": "r1", "retry-after": "7" }));
  expect(await failure(callAs(session, "showSite", { id: 3 }))).toMatchObject({
    status: 429,
    message: "Too many requests. Try again in a moment.",
    requestId: "r1",
    retryAfterMs: 7000,
  });
});

test("has a message for an error without a readable body", async () => {
  answerWith(() => new Response("Bad Gateway", { status: 502 }));
  expect(await failure(callAs(session, "showSite", { id: 3 }))).toMatchObject({
    status: 502,
    message: "The service returned 502.",
  });
});

test("says which limit to raise when a proxy refuses an upload", async () => {
  answerWith(() => new Response("<h1>413 Request Entity Too Large</h1>", { status: 413 }));
  expect(await failure(callAs(session, "showSite", { id: 3 }))).toMatchObject({
    status: 413,
    message:
      "A proxy in front of the service refuses so large a request. Raise its limit, e.g. client_max_body_size of nginx.",
  });
});

test("describes a 500 of the interface as “Something went wrong”, with its request id", async () => {
  answerWith(() => json(500, { message: "Server Error", request_id: "r2" }));
  const error = await failure(callAs(session, "showSite", { id: 3 }));
  expect(messageOf(error)).toBe("Something went wrong (request id r2).");
});

test.each([
  [429, "Too Many Attempts.", "Too many requests. Try again in a moment."],
  [403, "This action is unauthorized.", "The token doesn't have permission for this action."],
])("describes a %i of the interface", async (status, message, text) => {
  answerWith(() => json(status, { message }, { "retry-after": "60" }));
  expect(messageOf(await failure(callAs(session, "showSite", { id: 3 })))).toBe(text);
});

test("says for a 404 of the interface what may have happened to the object", async () => {
  answerWith(() => json(404, { message: "Not found." }));
  const error = await failure(callAs(session, "showSite", { id: 3 }));
  expect(messageOf(error)).toBe("Not found. It may have been deleted meanwhile.");
});

test("sends the headers of the interface with every request, with and without a body", async () => {
  const network = answerWith(() => new Response(null, { status: 204 }));
  await callAs(session, "stopWorker", { id: 7 });
  expect(Object.fromEntries(new Headers(network.mock.calls[0]?.[1]?.headers))).toEqual({
    accept: "application/json",
    authorization: "Bearer 1|qd_secret",
    "content-type": "application/json",
  });
});

test.each(["runBackup", "restoreBackup", "updateNotifications"] as const)(
  "accepts any response to %s, which the interface does not specify",
  async (name) => {
    const params = { id: 3, backupConfigurationId: 3 };
    answerWith(() => new Response(null, { status: 204 }));
    expect(await callAs(session, name, params)).toBeUndefined();
    answerWith(() => json(200, { message: "As you wish." }));
    expect(await callAs(session, name, params)).toBeUndefined();
  },
);

describe("a service with a rate limit", () => {
  test.each([
    ["says for how long", { "retry-after": "2" }, 2_500],
    // The browser hides this header of another origin from the page.
    ["does not say for how long", {}, 1_250],
  ])("and %s gets the request again, and its response is used", async (_, headers, atMostMs) => {
    vi.useFakeTimers();
    let asked = 0;
    const network = answerWith(() => (++asked === 1 ? json(429, {}, headers) : json(200, site)));
    const response = callAs(session, "showSite", { id: 3 });
    await vi.advanceTimersByTimeAsync(900);
    expect(network).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(atMostMs - 900);
    expect(await response).toEqual(site);
    expect(network).toHaveBeenCalledTimes(2);
  });

  test("does not get the request forever", async () => {
    vi.useFakeTimers();
    const network = answerWith(() => json(429, {}, { "retry-after": "1" }));
    const error = failure(callAs(session, "showSite", { id: 3 }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await error).status).toBe(429);
    expect(network).toHaveBeenCalledTimes(4);
  });
});

test.each([
  [{ message: "Unauthenticated.", code: "token_expired" }, "token_expired"],
  [{ message: "Unauthenticated.", code: "token_unknown" }, "token_unknown"],
  // The client ignores message texts, and another service may have its own codes.
  [{ message: "The token expired." }, "refused"],
  [{ message: "Unauthenticated.", code: "expired" }, "refused"],
  [{ code: 7 }, "refused"],
  [null, "refused"],
])("a token that is refused with %j ends the session as %s", async (body, ended) => {
  sessions.connect(session, { remember: false });
  answerWith(() => json(401, body));
  expect(await failure(call("showSite", { id: 3 }))).toMatchObject({ status: 401 });
  expect(sessions.state.get()).toMatchObject({ session: null, ended });
});

test("a token that is only tested does not end the session", async () => {
  sessions.connect(session, { remember: false });
  answerWith(() => json(401, { message: "Unauthenticated." }));
  await failure(callAs({ ...session, token: "another" }, "showSite", { id: 3 }));
  expect(sessions.current()).toEqual(session);
});
