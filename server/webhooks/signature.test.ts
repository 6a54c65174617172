import { expect, test } from "vitest";
import { makeSecret, signatureHeaders } from "./signature.ts";

const webhook = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  previous_secret: null,
  previous_secret_until: null,
};

test("matches the test vector of Standard Webhooks", () => {
  const headers = signatureHeaders(
    webhook,
    "msg_p5jXN8AQM9LWM0D4loKWxJek",
    new Date(1_614_265_330_000),
    '{"test": 2432232314}',
  );
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("after a rotation both secrets sign, until the older one expires", () => {
  const at = new Date(1_614_265_330_000);
  const rotated = { ...webhook, previous_secret: makeSecret() };
  const count = (until: Date) =>
    signatureHeaders({ ...rotated, previous_secret_until: until }, "msg_1", at, "{}")[
      "webhook-signature"
    ]?.split(" ").length;
  expect(count(new Date(at.getTime() + 1))).toBe(2);
  expect(count(at)).toBe(1);
});

test("a secret is whsec_ and base64 of 32 bytes, and no two are equal", () => {
  const [one, other] = [makeSecret(), makeSecret()];
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(one).not.toBe(other);
});
