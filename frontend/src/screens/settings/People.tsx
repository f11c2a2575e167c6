/** The people of this tenant: who they are, and what they may do. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import { useSession } from "@/app/session";
import {
  Badge,
  Button,
  Dialog,
  Empty,
  Failure,
  Input,
  Menu,
  Panel,
  Select,
  Skeleton,
  Table,
  Time,
} from "@/kit";
import { useChange } from "./change";

interface Person {
  id: string;
  email: string;
  name: string | null;
  role: string;
  disabled_at: string | null;
  created_at: string;
}

const ROLES = [
  { value: "viewer", label: "Viewer: looks" },
  { value: "curator", label: "Curator: decides and exports" },
  { value: "admin", label: "Admin: lets people in" },
];

const PEOPLE = ["people"] as const;

export function People() {
  const [isInviting, setInviting] = useState(false);
  const [renewing, setRenewing] = useState<Person | null>(null);
  const { change, busy } = useChange(PEOPLE);
  const people = useQuery({
    queryKey: PEOPLE,
    queryFn: () => call<{ items: Person[] }>("GET", "/users"),
  });
  const patch = (person: Person, body: object, said: string) =>
    void change(
      () => call("PATCH", `/users/${person.id}`, { body, headers: { "If-Match": "*" } }),
      said,
    );
  return (
    <Panel
      flush
      title="People"
      about="Everyone here works on the same records."
      actions={
        <Button icon="plus" look="primary" onClick={() => setInviting(true)}>
          Let someone in
        </Button>
      }
    >
      {people.error ? (
        <Failure error={people.error} retry={() => void people.refetch()} />
      ) : !people.data ? (
        <Skeleton lines={4} />
      ) : people.data.items.length === 0 ? (
        <Empty icon="users" title="Nobody has a password yet">
          Whoever sits at this machine is its administrator. From the first person on, everyone logs
          in.
        </Empty>
      ) : (
        <Table
          label="People"
          rows={people.data.items}
          keyOf={(person) => person.id}
          columns={[
            { name: "E-mail", show: (person) => <span className="foreign">{person.email}</span> },
            {
              name: "Name",
              minor: true,
              show: (person) => <span className="foreign">{person.name ?? ""}</span>,
            },
            {
              name: "Role",
              show: (person) => (
                <Badge tone={person.role === "admin" ? "accent" : "quiet"}>{person.role}</Badge>
              ),
            },
            {
              name: "State",
              show: (person) =>
                person.disabled_at ? (
                  <Badge tone="bad">shut out</Badge>
                ) : (
                  <Badge tone="good">may come in</Badge>
                ),
            },
            { name: "Since", minor: true, show: (person) => <Time at={person.created_at} /> },
            {
              name: "Actions",
              show: (person) => (
                <Menu
                  label={`What to do with ${person.email}`}
                  shown=""
                  icon="more"
                  look="quiet"
                  small
                  align="right"
                  items={[
                    ...ROLES.filter(({ value }) => value !== person.role).map(({ value }) => ({
                      name: `Make them ${value}`,
                      run: () => patch(person, { role: value }, `${person.email} is ${value} now.`),
                    })),
                    {
                      name: "Give a new password",
                      icon: "key" as const,
                      run: () => setRenewing(person),
                    },
                    {
                      name: person.disabled_at ? "Let in again" : "Shut out",
                      icon: "logout" as const,
                      danger: !person.disabled_at,
                      run: () =>
                        patch(
                          person,
                          { disabled: !person.disabled_at },
                          person.disabled_at ? "They may come in again." : "They are shut out.",
                        ),
                    },
                  ]}
                />
              ),
            },
          ]}
        />
      )}
      {isInviting && (
        <Invite
          busy={busy}
          onClose={() => setInviting(false)}
          onSave={async (body) => {
            const made = await change(
              () => call<Person>("POST", "/users", { body }),
              "They may come in.",
            );
            if (made) setInviting(false);
          }}
        />
      )}
      {renewing && (
        <Renew
          person={renewing}
          busy={busy}
          onClose={() => setRenewing(null)}
          onSave={(password) => {
            patch(renewing, { password }, "The new password holds; open sessions are ended.");
            setRenewing(null);
          }}
        />
      )}
    </Panel>
  );
}

function Invite({
  busy,
  onSave,
  onClose,
}: {
  busy: boolean;
  onSave: (body: object) => void;
  onClose: () => void;
}) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const isFirst = useSession().data?.via === "local";
  const [role, setRole] = useState(isFirst ? "admin" : "curator");
  const [password, setPassword] = useState("");
  const isReady = email.includes("@") && password.length > 0;
  return (
    <Dialog
      title="Let someone in"
      onClose={onClose}
      onSubmit={() =>
        isReady && onSave({ email, role, password, ...(name.trim() ? { name: name.trim() } : {}) })
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy} disabled={!isReady}>
            Let them in
          </Button>
        </>
      }
    >
      <div className="stack">
        <Input
          label="E-mail"
          type="email"
          autoComplete="off"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Input
          label="Name"
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {isFirst ? (
          <p className="small soft">
            The first person becomes an admin. From then on everyone logs in, on this machine too.
          </p>
        ) : (
          <Select
            label="Role"
            value={role}
            options={ROLES}
            onChange={(event) => setRole(event.target.value)}
          />
        )}
        <Input
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="Tell it to them by a safe way; they can ask for another."
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </div>
    </Dialog>
  );
}

function Renew({
  person,
  busy,
  onSave,
  onClose,
}: {
  person: Person;
  busy: boolean;
  onSave: (password: string) => void;
  onClose: () => void;
}) {
  const [password, setPassword] = useState("");
  return (
    <Dialog
      title={`New password for ${person.email}`}
      onClose={onClose}
      onSubmit={() => password && onSave(password)}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy} disabled={!password}>
            Set it
          </Button>
        </>
      }
    >
      <Input
        label="Password"
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </Dialog>
  );
}
