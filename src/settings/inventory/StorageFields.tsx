// The fields of a storage provider: type, location, and encryption.
import { useWatch } from "react-hook-form";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { FieldGroup } from "../../ui/form/FieldGroup.tsx";
import { EncryptionFields } from "./EncryptionFields.tsx";
import type { EntryValues } from "./entry-form.ts";
import { NameField, SelectField, ServerField, TextField, TypeField } from "./fields.tsx";
import { LoginFields } from "./LoginFields.tsx";
import { SecretField } from "./SecretField.tsx";

const storageTypes = [
  { value: "local", label: "Folder" },
  { value: "s3", label: "S3-compatible" },
  { value: "sftp", label: "SFTP" },
  { value: "rclone", label: "rclone" },
] as const;

function LockFields() {
  const mode = useWatch<EntryValues>({ name: "lock.mode" });
  const isLocked = typeof mode === "string" && mode !== "";
  return (
    <>
      <SelectField
        name="lock.mode"
        label="Object lock"
        options={[
          ["", "Bucket default"],
          ["governance", "Governance"],
          ["compliance", "Compliance"],
        ]}
        help="Needs a bucket with object lock. Compliance: nobody can delete a backup early, not even the account's owner."
      />
      {isLocked && (
        <TextField
          name="lock.days"
          label="Locked for"
          placeholder="30"
          isNumber
          emptyText="Enter a number of days."
          help="Days from the end of each backup. Retention deletes it after that."
        />
      )}
    </>
  );
}

export function StorageFields({ inventory }: { inventory: InventoryFile }) {
  const type = useWatch<EntryValues>({ name: "type" });
  return (
    <>
      <FieldGroup title="Storage provider">
        <NameField placeholder="offsite" />
        <TypeField name="type" legend="Type" options={storageTypes} />
        {type === "sftp" && (
          <>
            <TextField
              name="path"
              label="Folder"
              placeholder="backups"
              isCode
              emptyText="Enter the folder's path."
              help="As the login sees it. The folder must exist."
            />
            <TextField
              name="ssh.config"
              label="SSH configuration"
              placeholder="/etc/quarterdeck/ssh_config"
              isCode
              help="An ssh_config on Quarterdeck's machine whose options apply as well."
            />
          </>
        )}
        {type === "rclone" && (
          <>
            <TextField
              name="remote"
              label="Remote"
              placeholder="box:quarterdeck"
              isCode
              emptyText="Enter the remote, a colon and a path."
              help="Name of a remote in rclone's config file, a colon, and a path. rclone must be installed on this machine."
            />
            <SecretField
              name="config"
              label="rclone config"
              text={{
                label: "rclone config to store",
                placeholder: "[box]\ntype = sftp\nhost = box.example.com\nuser = backups",
              }}
              none="rclone's own, of Quarterdeck's account"
              emptyText="Paste the section of the remote from rclone's config file."
              help="The section of the remote, as “rclone config show” prints it."
            />
          </>
        )}
        {type === "s3" && (
          <>
            <TextField name="bucket" label="Bucket" isCode emptyText="Enter the bucket's name." />
            <TextField name="region" label="Region" placeholder="us-east-1" isCode />
            <TextField
              name="endpoint"
              label="Endpoint"
              placeholder="https://s3.example.com"
              isCode
              help="Leave empty for Amazon S3."
            />
            <div className="max-sm:hidden" />
            <SecretField name="access_key" label="Access key" emptyText="Enter the access key." />
            <SecretField name="secret_key" label="Secret key" emptyText="Enter the secret key." />
            <LockFields />
          </>
        )}
        {type === "local" && (
          <>
            <TextField
              name="path"
              label="Folder"
              placeholder="/var/backups/quarterdeck"
              isCode
              emptyText="Enter the folder's path."
              help="The folder must exist."
            />
            <ServerField
              servers={inventory.servers}
              none="This machine"
              help="The server that has the folder."
            />
          </>
        )}
        <EncryptionFields />
      </FieldGroup>
      {type === "sftp" && <LoginFields name="ssh" host="box.example.com" />}
    </>
  );
}
