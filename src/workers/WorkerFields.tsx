// The fields of the worker form: four are visible, the others collapsed.
import { useFormContext, useFormState, useWatch } from "react-hook-form";
import { stopSignals } from "../../contract/workers/worker.ts";
import { defaultStopWait } from "../../contract/workers/bodies.ts";
import { toText } from "../app/form/form-values.ts";
import { Checkbox } from "../ui/form/Checkbox.tsx";
import { FoldedFields } from "../ui/form/FoldedFields.tsx";
import { Input } from "../ui/form/Input.tsx";
import { Select } from "../ui/form/Select.tsx";
import { NumberField, WorkerFieldFrame } from "./WorkerField.tsx";
import { jobFields, mainFields, supervisionFields } from "./worker-fields.ts";
import {
  advancedSummary,
  toPreview,
  type WorkerField,
  type WorkerFormValues,
} from "./worker-form.ts";

type WorkerFieldsProps = {
  /** The site's folder; undefined = unknown. */
  root: string | undefined;
  /** Memory of the machine in MB; null where it is unknown. */
  machineMemory: number | null;
};

const inSight: readonly WorkerField[] = ["connection", "queue", "processes", "timeout"];

function CodeField({
  name,
  ...frame
}: {
  name: "connection" | "queue";
  label: string;
  help: string;
  machineMemory: number | null;
}) {
  const { register } = useFormContext<WorkerFormValues>();
  return (
    <WorkerFieldFrame name={name} {...frame}>
      {(aria) => <Input {...aria} {...register(name, { setValueAs: toText })} isCode />}
    </WorkerFieldFrame>
  );
}

function CheckboxField({
  name,
  ...frame
}: {
  name: "force" | "stopasgroup";
  label: string;
  help: string;
  machineMemory: number | null;
}) {
  const { register } = useFormContext<WorkerFormValues>();
  return (
    <WorkerFieldFrame name={name} layout="beside" {...frame}>
      {(aria) => <Checkbox {...aria} {...register(name)} />}
    </WorkerFieldFrame>
  );
}

function AdvancedFields({ root, machineMemory }: WorkerFieldsProps) {
  const { register, trigger } = useFormContext<WorkerFormValues>();
  const { errors } = useFormState<WorkerFormValues>();
  const values = useWatch<WorkerFormValues>();
  const stopWait = defaultStopWait(toPreview(values).timeout);
  const isWrong = (name: string) => !inSight.some((one) => one === name) && name !== "root";
  return (
    <FoldedFields
      title="Advanced"
      summary={advancedSummary(values)}
      hasError={Object.keys(errors).some(isWrong)}
    >
      <WorkerFieldFrame
        name="directory"
        label="Directory"
        help="Working directory inside the site's folder. Leave empty to use the folder itself."
        machineMemory={machineMemory}
      >
        {(aria) => (
          <Input
            {...aria}
            {...register("directory", {
              setValueAs: toText,
              // A path that leaves the site is rejected while it is typed.
              onChange: () => void trigger("directory"),
            })}
            isCode
            placeholder={root}
          />
        )}
      </WorkerFieldFrame>
      {jobFields.map((field) => (
        <NumberField key={field.name} {...field} machineMemory={machineMemory} />
      ))}
      <CheckboxField
        name="force"
        label="Force"
        help="Run jobs even while the site is in maintenance mode."
        machineMemory={machineMemory}
      />
      {supervisionFields.map((field) => (
        <NumberField
          key={field.name}
          {...field}
          machineMemory={machineMemory}
          {...(field.name === "stopwaitsecs" && { placeholder: String(stopWait) })}
        />
      ))}
      <WorkerFieldFrame
        name="stopsignal"
        label="Stop signal"
        help="Signal sent to stop a process. TERM lets the running job finish."
        machineMemory={machineMemory}
      >
        {(aria) => (
          <Select {...aria} {...register("stopsignal")}>
            {stopSignals.map((signal) => (
              <option key={signal}>{signal}</option>
            ))}
          </Select>
        )}
      </WorkerFieldFrame>
      <CheckboxField
        name="stopasgroup"
        label="Stop as group"
        help="Also send the stop signal to child processes. For commands that don't forward signals."
        machineMemory={machineMemory}
      />
    </FoldedFields>
  );
}

export function WorkerFields({ root, machineMemory }: WorkerFieldsProps) {
  return (
    <>
      <div className="grid items-start gap-x-6 gap-y-5 sm:grid-cols-2">
        <CodeField
          name="connection"
          label="Connection"
          help="A queue connection from the site's config/queue.php."
          machineMemory={machineMemory}
        />
        <CodeField
          name="queue"
          label="Queue"
          help="One or more queues in order of priority: high,default"
          machineMemory={machineMemory}
        />
        {mainFields.map((field) => (
          <NumberField key={field.name} {...field} machineMemory={machineMemory} />
        ))}
      </div>
      <AdvancedFields root={root} machineMemory={machineMemory} />
    </>
  );
}
