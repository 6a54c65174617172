// Explains to operators why PostgreSQL could not be used.
import { placeOf, type PostgresAddress } from "./address.ts";

/**
 * @param setting name of the setting with the URL, such as “DATABASE_URL”
 * @param error of a connection or a query
 */
export function describeRefusal(
  address: PostgresAddress,
  setting: string,
  error: Error & { code?: string },
): string {
  const { host, user, database } = address;
  const place = placeOf(address);
  // Both Node.js and PostgreSQL put a code on what they throw.
  const { code = "", message } = error;
  const known = `${message} ${code}`;
  if (code === "28P01")
    return `PostgreSQL at ${place} refuses the password of ${user}. Correct it in ${setting}.`;
  // An error of the driver, which has no password to send.
  if (message.includes("client password must be a"))
    return `PostgreSQL at ${place} asks for a password of ${user}. Add it to ${setting}.`;
  if (code === "28000" && message.includes("no encryption"))
    return `PostgreSQL at ${place} takes ${user} over TLS only. Remove sslmode=disable from ${setting}.`;
  if (code === "28000") return `PostgreSQL at ${place} refuses ${user}: ${message}.`;
  if (code === "3D000")
    return `PostgreSQL at ${place} has no database ${database}. Correct the name in ${setting}, or create it.`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `The host ${host} is not known. Correct it in ${setting}.`;
  if (code === "ECONNREFUSED" || (code === "ENOENT" && host.startsWith("/")))
    return `Nothing answers at ${place}. Start PostgreSQL there, or correct host and port in ${setting}.`;
  if (code === "EACCES" || code === "EPERM")
    return `This account may not open the socket of PostgreSQL at ${place}. Let it enter that folder, or name another host in ${setting}.`;
  if (/timeout expired|connection timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/.test(known))
    return `PostgreSQL at ${place} is not responding. Check that the machine is up and that no firewall blocks this one.`;
  if (code === "55P03")
    return "Another session holds a lock on a table. Try again when it has ended.";
  if (/not support SSL/.test(message))
    return `PostgreSQL at ${place} has no TLS, which sslmode in ${setting} asks for. Turn “ssl” on there, or remove sslmode.`;
  if (/CERT|UNABLE_TO_|ERR_TLS_/.test(code))
    return `The certificate of PostgreSQL at ${place} is not accepted: ${message.split(";")[0]}. Name the authority that signed it by sslrootcert=/path in ${setting}, and the host as the certificate does.`;
  if (/Connection terminated|ECONNRESET|EPIPE/.test(known) || code.startsWith("57P"))
    return `PostgreSQL at ${place} went away: ${message}.`;
  return `PostgreSQL at ${place} answers: ${message}`;
}
