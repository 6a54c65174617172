import { expect, test, vi } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { changesIn, setServerErrors, toNumber, toText } from "./form-values.ts";

test.each([
  ["", undefined],
  ["  ", undefined],
  [undefined, undefined],
  ["0", 0],
  [" 60 ", 60],
  ["-1", -1],
  ["1.5", 1.5],
  [128, 128],
  ["abc", Number.NaN],
  ["1e3", Number.NaN],
  ["0x10", Number.NaN],
])("parses a number field: %j", (value, expected) => {
  expect(toNumber(value)).toBe(expected);
});

test.each([
  ["", undefined],
  [" ", undefined],
  [" current ", "current"],
])("parses an optional text: %j", (value, expected) => {
  expect(toText(value)).toBe(expected);
});

test("sends only values that differ from the initial ones, of any type", () => {
  const before = { name: "shop", hold: 7, drill: 5, keep: { daily: 7, weekly: 4 }, exclude: null };
  const keep = { weekly: 4, daily: 7 };
  expect(changesIn({ name: "shop", hold: 7, keep, drill: 5, exclude: null }, before)).toEqual({});
  expect(changesIn({ name: "blog", keep: { daily: 7 }, drill: null }, before)).toEqual({
    name: "blog",
    keep: { daily: 7 },
    drill: null,
  });
});

test("shows unexplained errors of the service above the form, with the request id", () => {
  const setError = vi.fn<(name: string, error: object, options?: object) => void>();
  setServerErrors(new ApiError(500, "It failed.", { requestId: "r-7" }), ["name"], setError);
  expect(setError.mock.calls).toEqual([["root.service", { message: "It failed.", type: "r-7" }]]);
});

test("shows each error at its field, and others above the form", () => {
  const setError = vi.fn<(name: string, error: object, options?: object) => void>();
  const error = new ApiError(422, "The name field is required.", {
    fields: { name: ["The name field is required."], other: ["Something else."] },
  });
  setServerErrors(error, ["name"], setError);
  expect(setError.mock.calls).toEqual([
    ["name", { message: "The name field is required." }, { shouldFocus: true }],
    ["root.service", { message: "Something else." }],
  ]);
});
