import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { loadAgain } from "../app/routing/asked-part.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { Button } from "../ui/button/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import {
  type ConfigurationAction,
  configurationActions,
  refusal,
  useConfigurationActions,
} from "./actions.ts";
import { hasExtras } from "./backup-facts.ts";
import { workOf } from "./work.ts";

type ConfigurationActionsProps = {
  configuration: BackupConfiguration;
  /** Icons alone, or with their labels. */
  look: "icons" | "words";
  /** Called when a deletion has begun. */
  onRemoved?: () => void;
};

// The questions are loaded on demand, because few rows need them.
const ask = <Question,>(loading: Promise<Question>, open: (question: Question) => void): void =>
  void loading.then(open, () => toast.failure("Couldn't open the confirmation.", loadAgain));

/** Run now or cancel, edit and delete. Actions that are impossible now are disabled with a reason. */
export function ConfigurationActions({
  configuration,
  look,
  onRemoved,
}: ConfigurationActionsProps) {
  const { run, isStarting } = useConfigurationActions();
  const { id, name } = configuration;
  const isIcon = look === "icons";
  const facts = (action: ConfigurationAction) => {
    const { label, key } = configurationActions[action];
    return {
      size: isIcon ? ("icon" as const) : ("md" as const),
      variant: isIcon ? ("ghost" as const) : ("secondary" as const),
      command: { label: `${label}: ${name}`, name: label, key },
    };
  };
  const work = workOf(configuration);
  const canceled = work !== null && hasExtras(work.backup) ? work : null;
  const editRefusal = refusal("update", configuration);
  const edit = (
    <>
      <Icon name="edit" />
      {!isIcon && configurationActions.update.label}
    </>
  );
  return (
    <>
      {/* A single button, so that it keeps the focus when it changes. */}
      {canceled === null ? (
        <Button
          {...facts("run")}
          disabledReason={refusal("run", configuration)}
          isPending={isStarting}
          onClick={() => run(configuration)}
        >
          <Icon name="play" />
          {!isIcon && configurationActions.run.label}
        </Button>
      ) : (
        <Button
          {...facts("run")}
          command={{ label: `Cancel ${canceled.kind}: ${name}`, name: `Cancel ${canceled.kind}` }}
          onClick={() =>
            ask(import("./cancel-question.tsx"), ({ askCancel }) => askCancel(canceled.backup))
          }
        >
          <Icon name="stop" />
          {!isIcon && `Cancel ${canceled.kind}`}
        </Button>
      )}
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
        onClick={() =>
          ask(import("./removal-question.tsx"), ({ askRemoval }) =>
            askRemoval(configuration, onRemoved),
          )
        }
      >
        <Icon name="trash" />
        {!isIcon && <span className="text-bad">{configurationActions.remove.label}</span>}
      </Button>
    </>
  );
}
