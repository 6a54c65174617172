// An event listener of supervisord: appends each change of a process to a file, so that none is missed.
// See http://supervisord.org/events.html#event-listener-notification-protocol.
import { appendFileSync } from "node:fs";

const [path = ""] = process.argv.slice(2);

const fieldsOf = (text: string) =>
  new Map(
    text.split(" ").map((field): [string, string] => {
      const [name = "", value = ""] = field.split(":");
      return [name, value];
    }),
  );

process.stdout.write("READY\n");
let buffered = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text: string) => {
  buffered += text;
  const headerEnd = buffered.indexOf("\n");
  if (headerEnd === -1) return;
  const header = fieldsOf(buffered.slice(0, headerEnd));
  const bodyEnd = headerEnd + 1 + Number(header.get("len"));
  if (buffered.length < bodyEnd) return;
  const body = fieldsOf(buffered.slice(headerEnd + 1, bodyEnd));
  buffered = buffered.slice(bodyEnd);
  const state = header.get("eventname")?.replace("PROCESS_STATE_", "");
  appendFileSync(path, `${body.get("processname")} ${state}\n`);
  process.stdout.write("RESULT 2\nOKREADY\n");
});
