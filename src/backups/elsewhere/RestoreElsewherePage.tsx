// Selects a target for a restore other than the backup's own source, and compares the row counts of both.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { flushSync } from "react-dom";
import { useLoaderData, useNavigate } from "react-router";
import type { BackupContents } from "../../../contract/backups/contents.ts";
import { engineInServer } from "../../../contract/backups/engines.ts";
import { useLoaded } from "../../api/query.ts";
import { everyServerQuery } from "../../app/inventory.ts";
import { LinkButton } from "../../app/LinkButton.tsx";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Checkbox } from "../../ui/form/Checkbox.tsx";
import { ChoiceList } from "../../ui/form/ChoiceList.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { focusInvalid } from "../../ui/focus/focus-invalid.ts";
import { Input } from "../../ui/form/Input.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Select } from "../../ui/form/Select.tsx";
import { refusal } from "../backup/backup-actions.ts";
import { backupQuery, configurationQuery } from "../queries.ts";
import { BackupCrumbs } from "../backup/BackupCrumbs.tsx";
import { ComparisonPanel } from "./ComparisonPanel.tsx";
import type { restoreElsewhereLoader } from "./loader.ts";
import { backupContentsQuery } from "./queries.ts";
import { askRestoreInto } from "./restore-into-question.tsx";
import { kindWords, useTargets } from "./targets.ts";

const modes = [
  { value: "existing", label: "Replace another database" },
  { value: "new", label: "Create a new database" },
] as const;

export function RestoreElsewherePage() {
  const {
    id,
    configurationId,
    serverId: ownServerId,
  } = useLoaderData<typeof restoreElsewhereLoader>();
  const navigate = useNavigate();
  const backup = useLoaded(backupQuery(id));
  const contents = useLoaded(backupContentsQuery(id));
  const { data: servers } = useQuery(everyServerQuery());
  const { data: configuration } = useQuery({
    ...configurationQuery(configurationId ?? 0),
    enabled: configurationId !== null,
  });
  const [mode, setMode] = useState<(typeof modes)[number]["value"]>("existing");
  const [serverId, setServerId] = useState(ownServerId ?? servers?.data[0]?.id ?? 0);
  const [chosen, setChosen] = useState<number | null>(null);
  const [name, setName] = useState("");
  const [part, setPart] = useState("");
  const [keepsOwners, setKeepsOwners] = useState<boolean | null>(null);
  const [isAsked, setIsAsked] = useState(false);

  const engine = contents?.engine ?? null;
  const one = engineInServer(engine);
  const isOfServer = one !== null;
  const isWholeServer = isOfServer && part === "";
  const isNew = mode === "new" && !isWholeServer;
  const targets = useTargets(serverId, engine, {
    // The own source is excluded, because it needs no page; but a new database, or one of a server's, can be created
    // next to it.
    left: isNew || part !== "" ? null : (configuration ?? null),
    isOne: isNew || part !== "",
  });
  const target = targets.find((one) => one.id === chosen) ?? null;
  const words = kindWords(engine);
  const isNone = targets.length === 0;
  const restored = part === "" ? engine : one;
  const isPostgres = restored === "postgres";
  const hasRoles = isPostgres || restored === "mysql";
  const keeps = keepsOwners ?? (isNew || target?.isServer === true);
  const refused = refusal("elsewhere", backup);

  const choose = (event: FormEvent) => {
    event.preventDefault();
    // Rendered synchronously, so that a missing field is marked before it gets the focus.
    flushSync(() => setIsAsked(true));
    if (target === null || (isNew && name.trim() === "")) return focusInvalid(event);
    askRestoreInto(
      backup,
      {
        ...target,
        part: part === "" ? null : { from_database: part },
        database: isNew ? name.trim() : null,
        keepsOwners: hasRoles ? keeps : null,
      },
      () => void navigate(paths.backup(id), { replace: true }),
    );
  };

  return (
    <>
      <PageHeader
        title={`Restore backup ${id} elsewhere`}
        context={configuration ? [configuration.name] : []}
        crumbs={
          <BackupCrumbs
            id={id}
            configurationId={configurationId}
            configuration={configuration}
            serverId={ownServerId}
          />
        }
      />
      {refused !== undefined && (
        <Notice tone="warn">
          <p>{refused}</p>
        </Notice>
      )}
      <form
        noValidate
        aria-label="Restore elsewhere"
        onSubmit={choose}
        className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_26rem] lg:grid-rows-[auto_1fr] lg:gap-x-10"
      >
        <div className="grid gap-6 rounded-lg border border-line bg-raised p-5 shadow-raised max-sm:p-4">
          {isOfServer && (
            <Field label="Restore">
              {(aria) => (
                <Select
                  {...aria}
                  value={part}
                  onChange={({ target: { value } }) => {
                    setPart(value);
                    setChosen(null);
                    setKeepsOwners(null);
                  }}
                >
                  <option value="">All databases</option>
                  {contents?.databases?.map((database) => (
                    <option key={database.name} value={database.name}>
                      {database.name}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          )}
          {hasRoles && (
            <ChoiceList
              legend="Restore into"
              options={modes}
              value={mode}
              onChange={(value) => {
                setMode(value);
                setKeepsOwners(null);
              }}
            />
          )}
          {(servers?.data.length ?? 0) > 1 && (
            <Field label="Server">
              {(aria) => (
                <Select
                  {...aria}
                  value={serverId}
                  onChange={({ target: { value } }) => {
                    setServerId(Number(value));
                    setChosen(null);
                  }}
                >
                  {servers?.data.map((server) => (
                    <option key={server.id} value={server.id}>
                      {server.name}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          )}
          <Field
            label={isNew ? "Beside" : words.label}
            error={isAsked && target === null ? (isNone ? words.none : words.prompt) : undefined}
            help={
              isNone
                ? isAsked
                  ? undefined
                  : words.none
                : isNew
                  ? "The new database is created on the same database server, by the account of this one."
                  : words.help
            }
          >
            {(aria) => (
              <Select
                {...aria}
                value={target?.id ?? ""}
                onChange={({ target: { value } }) => setChosen(Number(value))}
              >
                <option value="" disabled>
                  {isNone ? "None on this server" : words.prompt}
                </option>
                {targets.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          {isNew && (
            <Field
              label="Name of the new database"
              error={isAsked && name.trim() === "" ? "Enter a name." : undefined}
              help="Letters, digits, “_” and “-”. Add it to the inventory afterwards to back it up."
            >
              {(aria) => (
                <Input
                  {...aria}
                  value={name}
                  maxLength={63}
                  autoComplete="off"
                  onChange={({ target: { value } }) => setName(value)}
                />
              )}
            </Field>
          )}
          {hasRoles && (
            <Field
              label={isPostgres ? "Keep owners and permissions" : "Keep definers"}
              layout="beside"
              help={
                isPostgres
                  ? "The server must have the backup's roles. Otherwise everything belongs to the account in the inventory."
                  : "The server must have the accounts that views, triggers and routines run as. Otherwise they run as the account in the inventory."
              }
            >
              {(aria) => (
                <Checkbox
                  {...aria}
                  checked={keeps}
                  onChange={({ target: { checked } }) => setKeepsOwners(checked)}
                />
              )}
            </Field>
          )}
        </div>
        {/* Read before the buttons, also on narrow screens where it is below the fields. */}
        {contents !== null && (
          <div className="min-w-0 lg:col-start-2 lg:row-span-2 lg:row-start-1">
            <ComparisonPanel
              contents={shownContents(contents, part)}
              // The row counts of a whole server cannot be compared with those of one database.
              target={isNew || (part !== "" && target?.isServer === true) ? null : target}
            />
          </div>
        )}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary" disabledReason={refused}>
            Restore…
          </Button>
          <LinkButton to={paths.backup(id)} isBack>
            Cancel
          </LinkButton>
        </div>
      </form>
    </>
  );
}

/** For one database of a whole server, only its own tables. */
const shownContents = (contents: BackupContents, part: string): BackupContents =>
  part === ""
    ? contents
    : {
        ...contents,
        tables: contents.databases?.find((database) => database.name === part)?.tables ?? null,
      };
