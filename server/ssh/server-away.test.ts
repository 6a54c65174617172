import { expect, test } from "vitest";
import { explainControl } from "./server-away.ts";

// Messages of OpenSSH's mux.c, depending on when the master ended.
test.each([
  "Control socket connect(/run/qd/c): Connection refused",
  "mux_client_hello_exchange: write packet: Broken pipe\nmaster hello exchange failed",
  "mux_client_forward: write packet: Broken pipe",
  "mux_client_forward: read from master failed: Connection reset by peer",
  "muxclient: master forward request failed\n",
])("reports a closed connection as lost: %s", (said) =>
  expect(explainControl(said, "db.example:22")).toMatchObject({
    kind: "lost",
    message: "The connection to db.example:22 was lost.",
  }),
);

test("reports a refusal of the master with its message", () =>
  expect(
    explainControl(
      "mux_client_forward: forwarding request failed: Port taken\nmuxclient: master forward request failed\n",
      "db:22",
    ),
  ).toMatchObject({
    kind: "silent",
    message:
      "The connection to db:22 did not do what it was asked to: mux_client_forward: forwarding request failed: Port taken muxclient: master forward request failed",
  }));
