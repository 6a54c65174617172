// Samples of buttons, fields and choices.
import { Button } from "../ui/button/Button.tsx";
import type { ButtonVariant } from "../ui/button/button-class.ts";
import { Checkbox } from "../ui/form/Checkbox.tsx";
import { ChoiceList } from "../ui/form/ChoiceList.tsx";
import { CopyButton } from "../ui/button/CopyButton.tsx";
import { Field } from "../ui/form/Field.tsx";
import { FieldGroup } from "../ui/form/FieldGroup.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Input } from "../ui/form/Input.tsx";
import { SecretBox } from "../ui/text/SecretBox.tsx";
import { Select } from "../ui/form/Select.tsx";
import { Sample } from "./Sample.tsx";

const variants: ButtonVariant[] = ["primary", "secondary", "ghost", "danger"];

const schemes = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];
const files = [
  { value: "keep", label: "Keep the stored files", help: "They stay where they are." },
  { value: "remove", label: "Remove them too", help: "They cannot be brought back." },
];

const Buttons = ({ variant }: { variant: ButtonVariant }) => (
  <Sample name={`Button, ${variant}`}>
    <Button variant={variant}>
      <Icon name="plus" />
      Normal
    </Button>
    <Button variant={variant} size="sm">
      Small
    </Button>
    <Button variant={variant} size="icon" aria-label="Restart" data-tip="Restart">
      <Icon name="restart" />
    </Button>
    <Button variant={variant} isPending>
      Pending
    </Button>
    <Button variant={variant} disabledReason="Not possible while the status is installing.">
      Disabled
    </Button>
  </Sample>
);

export function Controls() {
  return (
    <>
      {variants.map((variant) => (
        <Buttons key={variant} variant={variant} />
      ))}
      <FieldGroup title="Fields">
        <Field label="Text" help="Help stands below.">
          {(aria) => <Input {...aria} defaultValue="shop.example.com" />}
        </Field>
        <Field label="Empty" term="its_term">
          {(aria) => <Input {...aria} placeholder="Placeholder" />}
        </Field>
        <Field label="With an error" error="The timeout is a whole number, 0 or more.">
          {(aria) => <Input {...aria} defaultValue="soon" unit="s" />}
        </Field>
        <Field label="With a warning" warning="This is more than the machine has.">
          {(aria) => <Input {...aria} defaultValue="9000" unit="MB" />}
        </Field>
        <Field label="Code">{(aria) => <Input {...aria} isCode defaultValue="30 2 * * *" />}</Field>
        <Field label="Disabled">{(aria) => <Input {...aria} disabled defaultValue="kept" />}</Field>
        <Field label="Select">
          {(aria) => (
            <Select {...aria}>
              <option>Every night at 02:30</option>
            </Select>
          )}
        </Field>
        <Field label="Select, disabled">
          {(aria) => (
            <Select {...aria} disabled>
              <option>Custom</option>
            </Select>
          )}
        </Field>
        <Field label="Not checked" layout="beside" help="Help stands below its label.">
          {(aria) => <Checkbox {...aria} />}
        </Field>
        <Field label="Checked" layout="beside">
          {(aria) => <Checkbox {...aria} defaultChecked />}
        </Field>
        <Field label="Some of them" layout="beside">
          {(aria) => <Checkbox {...aria} isMixed />}
        </Field>
        <ChoiceList legend="Short choices" options={schemes} value="light" onChange={() => {}} />
        <ChoiceList legend="Choices" options={files} value="keep" onChange={() => {}} />
      </FieldGroup>
      <Sample name="SecretBox, CopyButton">
        <SecretBox
          label="secret"
          secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
          onCopied={() => {}}
        />
        <CopyButton label="Copy command" text={() => "Copied"} />
      </Sample>
    </>
  );
}
