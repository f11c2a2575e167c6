/** When to get in touch again: a day in two clicks. */
import { Button, Icon, Input, Popover } from "@/kit";
import { day } from "@/kit/format";
import { texts } from "@/texts/curate";
import "./lead.css";
import { dayFromNow, isDue, untilMonday } from "./work";

interface FollowUpProps {
  value: string | null;
  onSet: (day: string | null) => void;
}

/** A day in words; one that has come stands out. */
export function FollowUpDay({ value }: { value: string }) {
  return <span className={isDue(value) ? "due" : ""}>{dayWord(value)}</span>;
}

function dayWord(value: string): string {
  const days = [texts.followUp.today, texts.followUp.tomorrow];
  return days.find((_, ahead) => value === dayFromNow(ahead)) ?? day(value);
}

export function FollowUp({ value, onSet }: FollowUpProps) {
  const choices: [string, number][] = [
    [texts.followUp.today, 0],
    [texts.followUp.tomorrow, 1],
    [texts.followUp.nextMonday, untilMonday()],
    [texts.followUp.inTwoWeeks, 14],
  ];
  return (
    <Popover
      small
      label={value ? texts.followUp.followUpOn(dayWord(value)) : texts.followUp.followUp}
      boxClass="follow-up"
      shown={
        <>
          <Icon name="calendar" size={16} />
          {value ? <FollowUpDay value={value} /> : texts.followUp.followUp}
        </>
      }
    >
      {(close) => {
        const choose = (wanted: string | null) => {
          close();
          onSet(wanted);
        };
        return (
          <>
            {choices.map(([name, days]) => (
              <Button key={name} look="quiet" onClick={() => choose(dayFromNow(days))}>
                {name}
              </Button>
            ))}
            <Input
              label={texts.followUp.onADay}
              type="date"
              value={value ?? ""}
              onChange={({ target }) => target.value && choose(target.value)}
            />
            {value && (
              <Button look="quiet" icon="cross" onClick={() => choose(null)}>
                {texts.followUp.noFollowUp}
              </Button>
            )}
          </>
        );
      }}
    </Popover>
  );
}
