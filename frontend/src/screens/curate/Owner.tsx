/** Who has a lead: chosen from the people of the tenant. */
import { useQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import { Icon, Menu } from "@/kit";
import { texts } from "@/texts/record";

interface OwnerProps {
  id: string | null;
  name: string | null;
  small?: boolean;
  /** In a list Tab does not stop here. */
  inList?: boolean;
  onSet: (id: string | null, name: string | null) => void;
}

export function Owner({ id, name, inList = false, onSet }: OwnerProps) {
  const people = useQuery({
    queryKey: ["assignees"],
    queryFn: () => read("/assignees"),
    staleTime: 60_000,
  });
  return (
    <Menu
      small
      look={inList ? "quiet" : "plain"}
      tabIndex={inList ? -1 : 0}
      label={texts.owner.assignedTo(name)}
      shown={
        <>
          {!inList && <Icon name="contact" size={16} />}
          <span className="foreign cut">{name ?? (inList ? "–" : texts.owner.assign)}</span>
          <Icon name="down" size={14} />
        </>
      }
      items={[
        ...(people.data ?? []).map((person) => ({
          name: person.name,
          checked: person.id === id,
          run: () => onSet(person.id, person.name),
        })),
        { name: texts.owner.nobody, checked: id === null, run: () => onSet(null, null) },
      ]}
    />
  );
}
