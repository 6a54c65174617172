// Checks the mail server of SMTP_URL: whether it responds and accepts the login. Sends no mail.
import type { Diagnosis } from "../../contract/doctor.ts";
import type { Inventory } from "../inventory/schema.ts";
import { tryMailServer } from "../notifications/channels/email.ts";
import type { SmtpSettings } from "../notifications/channels/smtp-url.ts";
import { toError } from "../to-error.ts";
import { failed, ok, warning } from "./finding.ts";

const name = "Mail";
const timeoutMs = 8000;

export async function checkMail(
  smtp: SmtpSettings | null,
  inventory: Inventory | null,
): Promise<Diagnosis> {
  const count = (inventory?.notification_channels ?? []).filter(
    ({ type }) => type === "email",
  ).length;
  if (smtp === null)
    return count === 0
      ? ok(name, "No mail is sent: SMTP_URL is not set, and no channel needs it.")
      : warning(
          name,
          `SMTP_URL is not set, and ${count} email ${count === 1 ? "channel needs" : "channels need"} it.`,
          "Set SMTP_URL, e.g. to smtp://user:password@mail.example.com:587, and restart the service.",
        );
  try {
    const offersLogin = await tryMailServer(smtp, timeoutMs);
    const responds = `The mail server ${smtp.host}:${smtp.port} responds`;
    if (smtp.login === null || offersLogin) return ok(name, `${responds}.`);
    return warning(
      name,
      `${responds}, but offers no login on this port, so the user and password of SMTP_URL were not tried.`,
      "Use the port for logins in SMTP_URL, usually 587, or 465 with smtps://. If the server needs none, remove user and password.",
    );
  } catch (error) {
    return failed(name, toError(error).message, "Check SMTP_URL and the mail server.");
  }
}
