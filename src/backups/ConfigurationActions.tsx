import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { confirm } from "../app/confirm.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { paths } from "../paths.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import {
  type ConfigurationAction,
  configurationActions,
  refusal,
  useConfigurationActions,
} from "./actions.ts";
import { hasExtras } from "./backup-facts.ts";
import { removalChoices, toFiles } from "./removal.ts";

type ConfigurationActionsProps = {
  configuration: BackupConfiguration;
  /** Icons alone, or with their words. */
  look: "icons" | "words";
  /** After a deletion has begun. */
  onRemoved?: () => void;
};

/** Run now, edit and delete. What is not possible now stays in place and says why. */
export function ConfigurationActions({
  configuration,
  look,
  onRemoved,
}: ConfigurationActionsProps) {
  const { run, isStarting, remove } = useConfigurationActions();
  const { id, name, directory } = configuration;
  const isIcon = look === "icons";
  const facts = (action: ConfigurationAction) => {
    const { label, key } = configurationActions[action];
    return {
      size: isIcon ? ("icon" as const) : ("md" as const),
      variant: isIcon ? ("ghost" as const) : ("secondary" as const),
      command: { label: `${label}: ${name}`, name: label, key },
    };
  };
  const askRemoval = () =>
    confirm({
      title: `Delete “${name}”?`,
      body: (
        <p>
          Deleting stops backups of the {configuration.type}{" "}
          <strong className="text-ink">{configuration.backupable.name}</strong> and deletes their
          schedule and history.
          {!hasExtras(configuration) &&
            " The service doesn't say whether it keeps the stored files."}
        </p>
      ),
      ...(hasExtras(configuration) && { choices: removalChoices(`${directory}/${id}`) }),
      typed: name,
      action: "Delete",
      run: async (files) => {
        await remove({ configuration, files: toFiles(files) });
        onRemoved?.();
      },
    });
  const editRefusal = refusal("update", configuration);
  const edit = (
    <>
      <Icon name="edit" />
      {!isIcon && configurationActions.update.label}
    </>
  );
  return (
    <>
      <Button
        {...facts("run")}
        disabledReason={refusal("run", configuration)}
        isPending={isStarting}
        onClick={() => run(configuration)}
      >
        <Icon name="play" />
        {!isIcon && configurationActions.run.label}
      </Button>
      {editRefusal === undefined ? (
        <LinkButton {...facts("update")} to={paths.editBackupConfiguration(id)}>
          {edit}
        </LinkButton>
      ) : (
        <Button {...facts("update")} disabledReason={editRefusal}>
          {edit}
        </Button>
      )}
      <Button
        {...facts("remove")}
        disabledReason={refusal("remove", configuration)}
        onClick={askRemoval}
      >
        <Icon name="trash" />
        {!isIcon && <span className="text-bad">{configurationActions.remove.label}</span>}
      </Button>
    </>
  );
}
