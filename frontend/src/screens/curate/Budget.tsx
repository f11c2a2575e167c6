/** How much of a site may be taken and how much was; a person may raise any part of it. */
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { write } from "@/api/client";
import { Button, type Column, Input, Select, Table, toast, toastError } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/record";
import { type BudgetLine, budgetAmount, budgetWord, isUsedUp } from "./siteBudget";

interface BudgetProps {
  id: string;
  lines: readonly BudgetLine[];
  mayCurate: boolean;
}

const COLUMNS: readonly Column<BudgetLine>[] = [
  {
    name: texts.budget.limit,
    show: (line) => (
      <>
        {budgetWord(line.name)}
        {isUsedUp(line) && <span className="soft"> {texts.budget.usedUp}</span>}
      </>
    ),
  },
  { name: texts.budget.used, number: true, show: (line) => budgetAmount(line.name, line.used) },
  { name: texts.budget.maximum, number: true, show: (line) => budgetAmount(line.name, line.most) },
];

export function Budget({ id, lines, mayCurate }: BudgetProps) {
  return (
    <section className="stack">
      <p className="small soft">{texts.budget.howMuchMayBeFetched}</p>
      <Table label={common.budget} columns={COLUMNS} rows={lines} keyOf={(line) => line.name} />
      {mayCurate && <Raise id={id} lines={lines} />}
    </section>
  );
}

function Raise({ id, lines }: { id: string; lines: readonly BudgetLine[] }) {
  const queries = useQueryClient();
  const [name, setName] = useState("page_budget");
  const [most, setMost] = useState("");
  const [busy, setBusy] = useState(false);

  async function raise(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    try {
      await write("PATCH", "/domains/{record_id}/budget", {
        path: { record_id: id },
        body: { [name]: Number(most) },
      });
      setMost("");
      toast({ kind: "good", text: texts.budget.changedWaitingPagesContinue(budgetWord(name)) });
      await queries.invalidateQueries({ queryKey: ["record", "domains", id] });
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className="row wrap" onSubmit={(event) => void raise(event)}>
      <Select
        label={texts.budget.limitToChange}
        value={name}
        options={lines.map((line) => ({ value: line.name, label: budgetWord(line.name) }))}
        onChange={(event) => setName(event.target.value)}
      />
      <Input
        label={texts.budget.maximum}
        type="number"
        min={0}
        step={1}
        value={most}
        placeholder={String(lines.find((line) => line.name === name)?.most ?? "")}
        onChange={(event) => setMost(event.target.value)}
      />
      <Button type="submit" busy={busy} disabled={most === ""}>
        {texts.budget.change}
      </Button>
    </form>
  );
}
