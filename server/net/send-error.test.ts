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
  ["EPROTO", "tls", /broke off the TLS handshake\.$/],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "tls", /1\.2 or newer/],
  ["ERR_SSL_UNSUPPORTED_PROTOCOL", "tls", /1\.2 or newer/],
  ["ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE", "tls", /no cipher in common/],
  ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", "tls", /client certificate/],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "tls", /client certificate/],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "tls", /client certificate/],
  ["ERR_SSL_TLSV1_UNRECOGNIZED_NAME", "tls", /no certificate for this host name/],
  ["ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR", "tls", /TLS handshake: tlsv1 alert internal error\.$/],
  ["INVALID_PURPOSE", "tls", /not one for servers/],
  ["UNSPECIFIED", "tls", /too weak/],
  ["HPE_INVALID_CONSTANT", "broken", /not HTTP/],
  ["EMFILE", "broken", /failed: it did/],
])("reports %s as %s", (code, kind, words) => {
  const diagnosed = diagnoseSendError(
    Object.assign(new Error("it did"), { code }),
    "example.com:81",
  );
  expect(diagnosed).toBeInstanceOf(SendError);
  expect(diagnosed).toMatchObject({ kind, message: expect.stringMatching(words) });
  expect(toError(diagnosed).message).toMatch(/^example\.com:81 /);
});

test("extracts the reason of a TLS error from the error of a write", () => {
  const told = (reason: string) =>
    Object.assign(
      new Error(
        `write EPROTO 40C72A:error:0A00042E:SSL routines:ssl3_read_bytes:${reason}:rec_layer_s3.c:918:\n`,
      ),
      { code: "EPROTO" },
    );
  const diagnosed = ["tlsv1 alert protocol version", "wrong version number", "bad ecpoint"].map(
    (reason) => toError(diagnoseSendError(told(reason), "example.com")).message,
  );
  expect(diagnosed).toEqual([
    "example.com speaks no version of TLS that Quarterdeck accepts, which is 1.2 or newer.",
    "example.com doesn't speak TLS. Check whether the URL should begin with http://.",
    "example.com broke off the TLS handshake: bad ecpoint.",
  ]);
});

test("returns any other error unchanged", () => {
  const error = new TypeError("a bug");
  expect(diagnoseSendError(error, "example.com")).toBe(error);
});
