// The fields of an SSH login, with an optional jump host.
import { useWatch } from "react-hook-form";
import { FieldGroup } from "../../ui/form/FieldGroup.tsx";
import type { EntryValues } from "./entry-form.ts";
import { CheckField, TextField } from "./fields.tsx";
import { SecretField } from "./SecretField.tsx";

/** The fields of the server, or of its jump host. */
function HopFields({ name, host, noun = "" }: { name: string; host: string; noun?: string }) {
  const label = (text: string) =>
    noun === "" ? text : `${noun} ${text.replace(/^./, (first) => first.toLowerCase())}`;
  return (
    <>
      <TextField
        name={`${name}.host`}
        label={label("Host")}
        placeholder={host}
        isCode
        emptyText="Enter a host name or an address."
      />
      <TextField name={`${name}.port`} label={label("Port")} placeholder="22" isNumber />
      <TextField
        name={`${name}.user`}
        label={label("User")}
        placeholder="deploy"
        isCode
        emptyText="Enter the user that logs in."
      />
      <TextField
        name={`${name}.host_key`}
        label={label("Host key")}
        placeholder="SHA256:…"
        isCode
        help={
          noun === ""
            ? "Fingerprint of the only key that is accepted. Test the connection to see which keys the server offers."
            : "Fingerprint of the only key that is accepted."
        }
      />
      <SecretField
        name={`${name}.key`}
        label={label("Key")}
        emptyText="Paste a private key."
        isKey
      />
    </>
  );
}

export function LoginFields({ name, host }: { name: string; host: string }) {
  const hasJump = useWatch<EntryValues>({ name: "hasJump" });
  return (
    <>
      <FieldGroup title="Login">
        <HopFields name={name} host={host} />
      </FieldGroup>
      <FieldGroup title="Jump host">
        <CheckField name="hasJump" label="Connect through a jump host" />
        {hasJump === true && (
          <HopFields name={`${name}.jump`} host="gate.example.com" noun="Jump" />
        )}
      </FieldGroup>
    </>
  );
}
