import { expect, test } from "vitest";
import { SendError, diagnoseSendError } from "./send-error.ts";
import { toError } from "../to-error.ts";

test.each([
  ["ENOTFOUND", "unreachable", /could not be resolved/],
  ["EAI_AGAIN", "unreachable", /name server/],
  ["ECONNREFUSED", "unreachable", /refused/],
  ["EHOSTUNREACH", "unreachable", /from here/],
  ["CERT_HAS_EXPIRED", "tls", /expired/],
  ["SELF_SIGNED_CERT_IN_CHAIN", "tls", /NODE_EXTRA_CA_CERTS/],
  ["CERT_UNTRUSTED", "tls", /not valid/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls", /TLS/],
  ["EPROTO", "tls", /TLS/],
  ["HPE_INVALID_CONSTANT", "broken", /not HTTP/],
  ["EMFILE", "broken", /failed: it did/],
])("%s is reported as %s", (code, kind, words) => {
  const diagnosed = diagnoseSendError(
    Object.assign(new Error("it did"), { code }),
    "example.com:81",
  );
  expect(diagnosed).toBeInstanceOf(SendError);
  expect(diagnosed).toMatchObject({ kind, message: expect.stringMatching(words) });
  expect(toError(diagnosed).message).toMatch(/^example\.com:81 /);
});

test("what is no error of the network stays what it is", () => {
  const error = new TypeError("a bug");
  expect(diagnoseSendError(error, "example.com")).toBe(error);
});
