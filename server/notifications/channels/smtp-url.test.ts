import { inspect } from "node:util";
import { expect, test } from "vitest";
import { readSmtpUrl } from "./smtp-url.ts";

const nobody = { login: null, from: null };

test.each([
  ["smtp://mail.example.com", { host: "mail.example.com", port: 587, isSecure: false, ...nobody }],
  ["smtps://mail.example.com/", { host: "mail.example.com", port: 465, isSecure: true, ...nobody }],
  ["smtp://[::1]:2525", { host: "::1", port: 2525, isSecure: false, ...nobody }],
  [
    "smtp://deck%40a.example:p%2Fa%23ss@mail.example.com:25",
    {
      host: "mail.example.com",
      port: 25,
      isSecure: false,
      login: { user: "deck@a.example", password: "p/a#ss" },
      from: null,
    },
  ],
])("parses %s", (text, settings) => {
  expect(readSmtpUrl(text)).toEqual(settings);
});

test.each([
  ["a@b.example", { name: "Quarterdeck", address: "a@b.example" }],
  ["Ops <a@b.example>", { name: "Ops", address: "a@b.example" }],
  ['"Ops, Berlin" <a@b.example>', { name: "Ops, Berlin", address: "a@b.example" }],
  ["Ops%20%3Ca%2Bx%40b.example%3E", { name: "Ops", address: "a+x@b.example" }],
  ["a+x@b.example", { name: "Quarterdeck", address: "a+x@b.example" }],
])("parses the sender %s", (from, expected) => {
  expect(readSmtpUrl(`smtp://mail.example.com?from=${from}`).from).toEqual(expected);
});

test.each([
  "",
  "mail.example.com:587",
  "https://deck:s3cret@mail.example.com",
  "smtp://",
  "smtp://deck:s3cret@",
  "smtp://deck@mail.example.com",
  "smtp://:s3cret@mail.example.com",
  "smtp://deck:s3cret@mail.example.com:99999",
  "smtp://deck:s3cret/more@mail.example.com",
  "smtp://deck:12/s3cret@mail.example.com",
  "smtp://deck:12#s3cret@mail.example.com",
  "smtp://deck:12?s3cret@mail.example.com",
  "smtp://deck:s3cret%@mail.example.com",
  "smtp://deck:s3cret@mail.example.com?from=",
  "smtp://deck:s3cret@mail.example.com?from=Ops",
  "smtp://deck:s3cret@mail.example.com?from=a@b.example,c@d.example",
  "smtp://deck:s3cret@mail.example.com?pool=true",
])("refuses %s without repeating it", (text) => {
  let error: unknown;
  try {
    readSmtpUrl(text);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ message: expect.stringMatching(/^SMTP_URL /) });
  expect(inspect(error)).not.toMatch(/s3cret/);
});
