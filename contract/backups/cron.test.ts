import { array, assert, constantFrom, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { cronProblem, frequency } from "./cron.ts";

describe("accepts a schedule that can run", () => {
  test.each([
    "* * * * *",
    "0 0 * * *",
    "30 2 * * *",
    "59 23 31 12 7",
    "05 02 * * *",
    "*/15 * * * *",
    "*/60 */24 */31 */12 */7",
    "0,30 * * * *",
    "5,10-20,30-50/10 * * * *",
    "10-50/20 * * * *",
    "0 9-17 * * 1-5",
    "0 0-23 1-31 1-12 0-7",
    "0 3 1,15 * *",
    "0 3 * * SUN",
    "0 3 * * sun",
    "0 3 * * MON-FRI",
    "0 3 * * Mon-Fri/2",
    "0 3 * * FRI-SUN",
    "0 3 * * 5-7",
    "0 3 * * 0",
    "0 3 * * 7",
    "0 3 * * MON,3,fri",
    "0 0 1 JAN *",
    "0 0 1 jan-mar,OCT *",
    "0 0 1 JAN-DEC/3 *",
    "0 0 29 2 *",
    "0 0 30 4 *",
    "0 0 31 2,3 *",
    "0 0 28-31 FEB *",
    "0 0 31 2 MON",
    "0 0 30 2 */2",
    "  30 2 * * *  ",
    "30  2\t* *   *",
  ])("%s", (text) => {
    expect(cronProblem(text)).toBeNull();
  });
});

describe("refuses a schedule that cannot run, with a message that names the field", () => {
  test.each([
    ["75 2 * * *", "The minute must be 0 to 59, not 75."],
    ["60 * * * *", "The minute must be 0 to 59, not 60."],
    ["0-60 * * * *", "The minute must be 0 to 59, not 60."],
    ["-5 * * * *", "The minute must be 0 to 59, not -5."],
    ["1.5 * * * *", "The minute must be 0 to 59, not 1.5."],
    ["1-2-3 * * * *", "The minute must be 0 to 59, not 1-2-3."],
    ["1/2/3 * * * *", "The minute must be 0 to 59, not 1/2/3."],
    ["*-5 * * * *", "The minute must be 0 to 59, not *."],
    ["5- * * * *", "The minute must be 0 to 59, not 5-."],
    ["*/ * * * *", "The minute must be 0 to 59, not */."],
    ["/5 * * * *", "The minute must be 0 to 59, not /5."],
    ["** * * * *", "The minute must be 0 to 59, not **."],
    ["? * * * *", "The minute must be 0 to 59, not ?."],
    ["H * * * *", "The minute must be 0 to 59, not H."],
    ["1e1 * * * *", "The minute must be 0 to 59, not 1E1."],
    ["٣ * * * *", "The minute must be 0 to 59, not ٣."],
    ["1,,2 * * * *", "The minute has an empty item in its list."],
    ["1, * * * *", "The minute has an empty item in its list."],
    ["5/10 * * * *", "The minute may have a step only after * or a range: 5-59/10."],
    ["*/0 * * * *", "The minute must have a step of 1 to 60, not 0."],
    ["*/61 * * * *", "The minute must have a step of 1 to 60, not 61."],
    ["*/1e1 * * * *", "The minute must have a step of 1 to 60, not 1E1."],
    ["*/x * * * *", "The minute must have a step of 1 to 60, not X."],
    ["20-10 * * * *", "The minute range 20-10 must start with the smaller value."],
    ["0 24 * * *", "The hour must be 0 to 23, not 24."],
    ["0 MON * * *", "The hour must be 0 to 23, not MON."],
    ["0 22-2 * * *", "The hour range 22-2 must start with the smaller value."],
    ["0 */25 * * *", "The hour must have a step of 1 to 24, not 25."],
    ["0 0 0 * *", "The day must be 1 to 31, not 0."],
    ["0 0 32 * *", "The day must be 1 to 31, not 32."],
    ["0 0 L * *", "The day must be 1 to 31, not L."],
    ["0 0 15W * *", "The day must be 1 to 31, not 15W."],
    ["0 0 LW * *", "The day must be 1 to 31, not LW."],
    ["0 0 * 0 *", "The month must be 1 to 12 or JAN to DEC, not 0."],
    ["0 0 * 13 *", "The month must be 1 to 12 or JAN to DEC, not 13."],
    ["0 0 * JANUARY *", "The month must be 1 to 12 or JAN to DEC, not JANUARY."],
    ["0 0 * JAN-XXX *", "The month must be 1 to 12 or JAN to DEC, not XXX."],
    ["0 0 * DEC-FEB *", "The month range DEC-FEB must start with the smaller value."],
    ["0 0 * */JAN *", "The month must have a step of 1 to 12, not JAN."],
    ["0 0 * * 8", "The weekday must be 0 to 7 or SUN to SAT, not 8."],
    ["0 0 * * MON#2", "The weekday must be 0 to 7 or SUN to SAT, not MON#2."],
    ["0 0 * * 5L", "The weekday must be 0 to 7 or SUN to SAT, not 5L."],
    ["0 0 1 * +MON", "The weekday must be 0 to 7 or SUN to SAT, not +MON."],
    ["0 0 * * FRI-MON", "The weekday range FRI-MON must start with the smaller value."],
    ["0 0 * * MON/2", "The weekday may have a step only after * or a range: MON-7/2."],
    ["0 0 31 2 *", "The day must be 1 to 29 in the chosen months, not 31."],
    ["0 0 30 FEB *", "The day must be 1 to 29 in the chosen months, not 30."],
    ["0 0 30,31 2 *", "The day must be 1 to 29 in the chosen months, not 30."],
    ["0 0 31 4,6,9,11 *", "The day must be 1 to 30 in the chosen months, not 31."],
    ["* * * *", expect.stringMatching(/^A schedule has five fields: .*; this has four\.$/)],
    [
      "0 30 2 * * *",
      "A schedule has five fields: minute, hour, day, month, weekday; this has six.",
    ],
    ["1 2 3 4 5 6 7 8 9", expect.stringContaining("; this has 9.")],
    ["", expect.stringContaining("; this has none.")],
    ["@daily", expect.stringContaining("; @daily is not supported.")],
    [" @reboot", expect.stringContaining("; @reboot is not supported.")],
    ["CRON_TZ=UTC 0 0 * * *", expect.stringContaining("; this has six.")],
  ])("%s", (text, sentence) => {
    expect(cronProblem(text)).toEqual(sentence);
  });
});

test("returns a message or nothing for any text", () => {
  const piece = constantFrom(
    ..."0 1 5 9 * / - , ? L W # + @ MON SUN FEB 31 é".split(" "),
    " ",
    "\t",
  );
  assert(
    property(array(piece, { maxLength: 24 }), string(), (pieces, text) => {
      for (const tried of [pieces.join(""), text])
        expect(cronProblem(tried)).toSatisfy(
          (said) => said === null || /^(A|The) .*\.$/s.test(said),
        );
    }),
  );
});

describe("the field of a form and of a body", () => {
  const complaints = (value: unknown) =>
    frequency.safeParse(value).error?.issues.map(({ message }) => message);

  test("collapses spaces between its fields, and keeps names as they were written", () => {
    expect(frequency.parse("  0   3 * *  Sun ")).toBe("0 3 * * Sun");
  });

  test("returns the message of the grammar", () => {
    expect(complaints("75 2 * * *")).toEqual(["The minute must be 0 to 59, not 75."]);
  });

  test.each([[""], ["   "], [undefined], ["0 ".repeat(200)], ["0\n2 * * *"]])(
    "returns a single error for %o",
    (value) => {
      expect(complaints(value)).toHaveLength(1);
    },
  );
});
