/** What a filter compares with, typed or chosen as people think of it. */
import type { Kind } from "@/api/kinds";
import { Input, Select, SURENESS } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/curate";
import { asDay, fromDay, isShare, optionsOf, PERIODS } from "./filters";
import type { FieldInfo } from "./model";

interface FilterValueProps {
  kind: Kind;
  info: FieldInfo | undefined;
  comparison: string;
  value: string;
  /** Without a visible label. */
  bare?: boolean;
  onChange: (value: string) => void;
}

export function FilterValue(props: FilterValueProps) {
  const { kind, info, comparison, value, bare = false, onChange } = props;
  const shared = { label: common.value, bare };
  if (comparison === "one_of") {
    return (
      <Input
        {...shared}
        hint={texts.filterValue.severalValues}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  if (info?.values || info?.type === "yes_no") {
    return (
      <Select
        {...shared}
        value={value}
        options={optionsOf(info)}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  if (info?.name === "confidence") {
    return (
      <Select
        {...shared}
        value={value}
        options={[
          { value: "", label: texts.filters.chooseAValue },
          ...SURENESS.slice(0, -1).map(({ from, word }) => ({ value: String(from), label: word })),
        ]}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  if (info?.type === "date") {
    return (
      <Input
        {...shared}
        type="date"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  if (info?.type === "time") return <Moment {...props} />;
  if (isShare(kind, info?.name)) {
    return (
      <Input
        {...shared}
        label={texts.filterValue.valueInPercent}
        type="number"
        min={0}
        max={100}
        value={value === "" ? "" : String(Math.round(Number(value) * 100))}
        onChange={({ target }) =>
          onChange(target.value === "" ? "" : String(Number(target.value) / 100))
        }
      />
    );
  }
  return <Input {...shared} value={value} onChange={(event) => onChange(event.target.value)} />;
}

const DAY = "day";

/** A length of time before now, which stays true tomorrow, or a day of the calendar. */
function Moment({ comparison, value, bare = false, onChange }: FilterValueProps) {
  const isAfter = comparison === "at_least";
  const choices = Object.entries(PERIODS).map(([period, words]) => ({
    value: period,
    label: isAfter ? texts.filterValue.theLast(words) : texts.filterValue.ago(words),
  }));
  const isPeriod = value in PERIODS;
  return (
    <>
      <Select
        label={common.value}
        bare={bare}
        value={isPeriod ? value : DAY}
        options={[...choices, { value: DAY, label: texts.filterValue.aDay }]}
        onChange={({ target }) => onChange(target.value === DAY ? "" : target.value)}
      />
      {!isPeriod && (
        <Input
          label={texts.filterValue.day}
          bare={bare}
          type="date"
          value={asDay(value)}
          onChange={({ target }) => onChange(fromDay(target.value, comparison))}
        />
      )}
    </>
  );
}
