/** A value of a column of one's own, typed or chosen. */
import { Input, Select } from "@/kit";
import { texts } from "@/texts/dialogs";
import type { FieldInfo } from "./model";

const TYPED: Record<string, string> = { number: "number", date: "date" };

interface OwnInputProps {
  field: FieldInfo;
  value: string;
  /** Instead of the column's heading. */
  label?: string;
  hint?: string;
  error?: string | undefined;
  onChange: (value: string) => void;
}

export function OwnInput({ field, value, label, hint, error, onChange }: OwnInputProps) {
  const shared = {
    label: label ?? field.title ?? field.name,
    hint,
    error,
    value,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  if (field.values) {
    return (
      <Select
        {...shared}
        options={[{ value: "", label: texts.ownInput.notSet }, ...field.values]}
      />
    );
  }
  return <Input {...shared} type={TYPED[field.type] ?? "text"} step="any" maxLength={2000} />;
}
