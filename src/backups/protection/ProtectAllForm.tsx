// The common settings of "Protect all", and a preview of what it creates.
import { zodResolver } from "@hookform/resolvers/zod";
import { useId, useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { defaultHold } from "../../../contract/backups/backup.ts";
import { scheduleText } from "../../../contract/backups/schedule-text.ts";
import { keysOf } from "../../../contract/keys-of.ts";
import "../../../contract/validation-messages.ts";
import { toNumber } from "../../app/form/form-values.ts";
import { countText } from "../../bulk/bulk-task.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Checkbox } from "../../ui/form/Checkbox.tsx";
import { Dialog } from "../../ui/dialog/Dialog.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Select } from "../../ui/form/Select.tsx";
import type { Choice } from "../form/choices.ts";
import {
  frequencyOf,
  type ProtectAll,
  protectAllForm,
  spreads,
  type Target,
} from "./protect-all.ts";
import type { ProtectPlan } from "./protect-run.ts";

export const createTitle = (count: number): string =>
  `Create ${countText(count, { one: "backup", many: "backups" })}`;

const kinds = { database: "Database", site: "Site folder" } as const;

type ProtectAllFormProps = {
  server: string;
  /** IANA name; null where the service does not return it. */
  timeZone: string | null;
  providers: readonly Choice[];
  targets: readonly Target[];
  onSubmit: (plan: ProtectPlan) => void;
  onClose: () => void;
};

export function ProtectAllForm({
  server,
  timeZone,
  providers,
  targets,
  onSubmit,
  onClose,
}: ProtectAllFormProps) {
  const formId = useId();
  const [isLeftOut, setLeftOut] = useState<ReadonlySet<Target>>(new Set());
  const chosen = targets.filter((target) => !isLeftOut.has(target));
  const onlyProvider = providers.length === 1 ? providers[0] : undefined;
  const {
    control,
    register,
    handleSubmit,
    formState: { errors },
  } = useForm<ProtectAll>({
    defaultValues: {
      spread: "night",
      hold: defaultHold,
      ...(onlyProvider !== undefined && { storage_provider_id: onlyProvider.id }),
    },
    resolver: zodResolver(protectAllForm),
    mode: "onTouched",
  });
  const spread = useWatch({ control, name: "spread" });
  const submit = handleSubmit((values) => onSubmit({ values, targets: chosen }));
  const choose = (target: Target, isChosen: boolean) => {
    const next = new Set(isLeftOut);
    if (isChosen) next.delete(target);
    else next.add(target);
    setLeftOut(next);
  };
  const planOf = (target: Target) => {
    const index = chosen.indexOf(target);
    return index < 0 ? "Not selected" : scheduleText(frequencyOf(spread, index, chosen.length));
  };
  return (
    <Dialog
      isLong
      title={`Protect everything on ${server}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={formId}
            variant="primary"
            isChange
            disabledReason={chosen.length === 0 ? "Select something first." : undefined}
          >
            {createTitle(chosen.length)}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        noValidate
        aria-label={`Protect everything on ${server}`}
        onSubmit={(event) => void submit(event)}
        className="grid gap-4 pb-1 text-ink"
      >
        <Field label="Schedule" help={`Time zone: ${timeZone ?? "the server's"}.`}>
          {(aria) => (
            <Select {...aria} {...register("spread")}>
              {keysOf(spreads).map((key) => (
                <option key={key} value={key}>
                  {spreads[key].label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field
          label="Storage"
          error={errors.storage_provider_id?.message}
          emptyText="Choose where to store backups."
        >
          {(aria) => (
            <Select {...aria} {...register("storage_provider_id", { setValueAs: toNumber })}>
              <option value="">
                {providers.length === 0 ? "None in the inventory" : "Choose a storage"}
              </option>
              {providers.map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <Field label="Keep last" error={errors.hold?.message}>
            {(aria) => (
              <Input
                {...aria}
                {...register("hold", { setValueAs: toNumber })}
                inputMode="numeric"
                placeholder={String(defaultHold)}
              />
            )}
          </Field>
          <Field
            label="Restore drill"
            help="Days between drills. Leave empty to never run drills."
            error={errors.drill?.message}
          >
            {(aria) => (
              <Input
                {...aria}
                {...register("drill", { setValueAs: (value) => toNumber(value) ?? null })}
                inputMode="numeric"
                unit="days"
              />
            )}
          </Field>
        </div>
        <ul aria-label={createTitle(chosen.length)} className="border-y border-line">
          {targets.map((target) => (
            <li
              key={`${target.type} ${target.id}`}
              className="border-b border-line py-2 last:border-b-0"
            >
              <Field
                layout="beside"
                label={target.label}
                help={`${kinds[target.type]} · ${planOf(target)}`}
              >
                {(aria) => (
                  <Checkbox
                    {...aria}
                    checked={!isLeftOut.has(target)}
                    onChange={({ target: box }) => choose(target, box.checked)}
                  />
                )}
              </Field>
            </li>
          ))}
        </ul>
      </form>
    </Dialog>
  );
}
