import { defineConfig } from "oxlint";

// The plan of the house, as rules: the wings meet in contract/ only, a room imports no sibling room,
// and the primitives of src/ui know nothing above them.
const rooms = ["backups", "workers", "webhooks", "notifications"];

const wings = {
  contract: [
    { regex: "^node:", message: "contract/ runs in the browser too." },
    { regex: "^react", message: "contract/ knows no React." },
    { regex: "^(\\.\\./)+(src|server)/", message: "contract/ imports neither src/ nor server/." },
  ],
  src: [
    { regex: "^node:", message: "src/ runs in the browser." },
    { regex: "^(\\.\\./)+server/", message: "src/ and server/ meet in contract/ only." },
    {
      regex: "^react-router$",
      importNames: [
        "createBrowserRouter",
        "Form",
        "Link",
        "NavLink",
        "useBeforeUnload",
        "useFetcher",
        "useSearchParams",
        "useSubmit",
      ],
      message:
        "The router's file of these is 5 kB of the first load: see src/app/routing/create-router.ts.",
    },
  ],
  server: [{ regex: "^(\\.\\./)+src/", message: "src/ and server/ meet in contract/ only." }],
};

type Pattern = { regex: string; importNames?: string[]; message: string };

const within = (files: string, patterns: Pattern[]) => {
  const rule: ["error", object] = ["error", { patterns }];
  return { files: [files], rules: { "no-restricted-imports": rule } };
};

// The last entry that matches a file wins, so each one repeats the rules of its wing.
const houseRules = Object.entries(wings).flatMap(([wing, patterns]) => [
  within(`${wing}/**`, patterns),
  ...rooms.map((room) =>
    within(`${wing}/${room}/**`, [
      ...patterns,
      {
        regex: `^(\\.\\./)+(${rooms.filter((other) => other !== room).join("|")})/`,
        message: "A room imports no sibling room: what two rooms need moves down.",
      },
    ]),
  ),
]);

export default defineConfig({
  plugins: ["typescript", "react", "jsx-a11y", "import", "unicorn", "oxc", "promise", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { typeAware: true },
  ignorePatterns: ["dist", "data"],
  rules: {
    // Those of dynamic imports, which it does not see, are found by `server/setup/import-circles.test.ts`.
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "import/no-named-as-default-member": "off",
    "import/no-unassigned-import": "off",
    "no-await-in-loop": "off",
    "no-console": "error",
    "no-shadow": "off",
    "no-underscore-dangle": "off",
    "oxc/no-map-spread": "off",
    "react/exhaustive-deps": "error",
    "react/react-in-jsx-scope": "off",
    "react/rules-of-hooks": "error",
    "typescript/consistent-type-definitions": ["error", "type"],
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/no-non-null-assertion": "error",
    // It counts a switch over a whole union as one that may end without a value.
    "typescript/consistent-return": "off",
    // An answer's type is the caller's to name: `json<Worker>(…)`.
    "typescript/no-unnecessary-type-parameters": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/switch-exhaustiveness-check": [
      "error",
      { considerDefaultExhaustiveForUnions: true },
    ],
    // Parts are made by factories, whose functions know no `this`.
    "typescript/unbound-method": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/no-array-sort": "off",
    "vitest/expect-expect": [
      "error",
      { assertFunctionNames: ["expect", "expect*", "context.expect"] },
    ],
    "vitest/no-conditional-expect": "off",
    "vitest/valid-expect": ["error", { maxArgs: 2 }],
    "vitest/valid-title": ["error", { allowArguments: true }],
  },
  overrides: [
    { files: ["*.config.ts", "**/*.config.ts"], rules: { "import/no-default-export": "off" } },
    { files: ["**/global-setup.ts"], rules: { "import/no-default-export": "off" } },
    { files: ["bench/**", "server/setup/**", "**/*.cjs"], rules: { "no-console": "off" } },
    {
      files: ["**/*.test.ts", "**/testing.ts", "**/testing/**", "e2e/**", "bench/**"],
      rules: {
        "no-restricted-properties": [
          "error",
          {
            object: "process",
            property: "kill",
            message: "A missing pid would end the whole run: see server/testing/signals.ts.",
          },
        ],
      },
    },
    {
      files: ["server/testing/signals.ts", "server/backups/sources/mysql/testing/restore-child.ts"],
      rules: { "no-restricted-properties": "off" },
    },
    ...houseRules,
    within("src/ui/**", [
      ...wings.src,
      {
        regex: `^react-router|^@tanstack|^(\\.\\./)+(api|app|bulk|palette|shortcuts|${rooms.join("|")})/`,
        message: "src/ui knows neither router nor API nor rooms.",
      },
    ]),
  ],
});
