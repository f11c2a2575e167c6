/** The people of this tenant: who they are, and what they may do. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import { invitationLink } from "@/app/Invitation";
import { useSession } from "@/app/session";
import {
  Badge,
  Button,
  Dialog,
  Empty,
  Failure,
  FormButtons,
  Input,
  Menu,
  Panel,
  Select,
  Skeleton,
  Table,
  Time,
  toast,
} from "@/kit";
import { useChange } from "./change";

type Person = Schemas["UserOut"];
type Role = Schemas["Role"];

const ROLES: readonly { value: Role; label: string }[] = [
  { value: "viewer", label: "Viewer: can look" },
  { value: "curator", label: "Curator: can decide and export" },
  { value: "admin", label: "Admin: can also manage people" },
];

const PEOPLE = ["people"] as const;

export function People() {
  const [isInviting, setInviting] = useState(false);
  const [renewing, setRenewing] = useState<Person | null>(null);
  const [link, setLink] = useState<string | null>(null);
  const { change, busy, wrong } = useChange(PEOPLE);
  const people = useQuery({
    queryKey: PEOPLE,
    queryFn: () => read("/users"),
  });
  const patch = (person: Person, body: Schemas["UserChange"], said: string) =>
    void change(
      () =>
        write("PATCH", "/users/{user_id}", {
          path: { user_id: person.id },
          body,
          headers: { "If-Match": "*" },
        }),
      said,
    );
  async function invite(person: Person | undefined) {
    if (!person) return;
    const made = await change(() =>
      write("POST", "/users/{user_id}/invitation", { path: { user_id: person.id } }),
    );
    if (made) setLink(invitationLink(made.token));
  }
  return (
    <Panel
      flush
      title="People"
      about="Everyone works on the same records."
      actions={
        <Button icon="plus" look="primary" onClick={() => setInviting(true)}>
          Invite someone
        </Button>
      }
    >
      {people.error ? (
        <Failure error={people.error} retry={() => void people.refetch()} />
      ) : !people.data ? (
        <Skeleton lines={4} />
      ) : people.data.items.length === 0 ? (
        <Empty icon="users" title="No accounts yet">
          Until the first account is created, whoever uses this machine is its administrator. After
          that, everyone logs in.
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
                  <Badge tone="bad">Deactivated</Badge>
                ) : (
                  <Badge tone="good">Active</Badge>
                ),
            },
            { name: "Since", minor: true, show: (person) => <Time at={person.created_at} /> },
            {
              name: "Actions",
              show: (person) => (
                <Menu
                  label={`Actions for ${person.email}`}
                  shown=""
                  icon="more"
                  look="quiet"
                  small
                  align="right"
                  items={[
                    ...ROLES.filter(({ value }) => value !== person.role).map(({ value }) => ({
                      name: `Change role to ${value}`,
                      run: () => patch(person, { role: value }, `${person.email} is now ${value}.`),
                    })),
                    {
                      name: "New invitation link",
                      icon: "copy" as const,
                      run: () => void invite(person),
                    },
                    {
                      name: "Set a new password",
                      icon: "key" as const,
                      run: () => setRenewing(person),
                    },
                    {
                      name: "Log out everywhere",
                      run: () =>
                        void change(
                          () =>
                            write("DELETE", "/users/{user_id}/sessions", {
                              path: { user_id: person.id },
                            }),
                          `${person.email} is logged out everywhere.`,
                        ),
                    },
                    {
                      name: person.disabled_at ? "Reactivate" : "Deactivate",
                      icon: "logout" as const,
                      danger: !person.disabled_at,
                      run: () =>
                        patch(
                          person,
                          { disabled: !person.disabled_at },
                          person.disabled_at
                            ? `${person.email} is active again.`
                            : `${person.email} is deactivated.`,
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
          wrong={wrong}
          onClose={() => setInviting(false)}
          onSave={async (body) => {
            const made = await change(
              () => write("POST", "/users", { body }),
              "The account is ready.",
            );
            if (!made) return;
            setInviting(false);
            if (!body.password) await invite(made);
          }}
        />
      )}
      {link && <InvitationLink link={link} onClose={() => setLink(null)} />}
      {renewing && (
        <Renew
          person={renewing}
          busy={busy}
          onClose={() => setRenewing(null)}
          onSave={(password) => {
            patch(renewing, { password }, "The password is changed. Open sessions were ended.");
            setRenewing(null);
          }}
        />
      )}
    </Panel>
  );
}

function Invite({
  busy,
  wrong,
  onSave,
  onClose,
}: {
  busy: boolean;
  wrong: Record<string, string>;
  onSave: (body: Schemas["UserIn"]) => void;
  onClose: () => void;
}) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const isFirst = useSession().data?.via === "local";
  const [role, setRole] = useState<Role>(isFirst ? "admin" : "curator");
  const [password, setPassword] = useState("");
  const isReady = email.includes("@") && (!isFirst || password.length > 0);
  return (
    <Dialog
      title="Invite someone"
      onClose={onClose}
      onSubmit={() =>
        isReady &&
        onSave({
          email,
          role,
          ...(name.trim() ? { name: name.trim() } : {}),
          ...(isFirst ? { password } : {}),
        })
      }
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!isReady}>
          {isFirst ? "Create account" : "Create invitation link"}
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label="E-mail"
          type="email"
          autoComplete="off"
          error={wrong.email}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Input
          label="Name"
          autoComplete="off"
          error={wrong.name}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {isFirst ? (
          <>
            <p className="small soft">
              The first account is an administrator. From then on everyone logs in, even on this
              machine.
            </p>
            <Input
              label="Password"
              type="password"
              autoComplete="new-password"
              error={wrong.password}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          </>
        ) : (
          <Select
            label="Role"
            hint="They choose their own password with the link you send them."
            value={role}
            options={ROLES}
            onChange={(event) => setRole(event.target.value as Role)}
          />
        )}
      </div>
    </Dialog>
  );
}

function InvitationLink({ link, onClose }: { link: string; onClose: () => void }) {
  const copy = () =>
    navigator.clipboard
      .writeText(link)
      .then(() => toast({ kind: "good", text: "Copied." }))
      .catch(() => toast({ text: "Select the link and copy it yourself." }));
  return (
    <Dialog
      title="Send this link"
      onClose={onClose}
      actions={
        <Button look="primary" icon="copy" onClick={() => void copy()}>
          Copy
        </Button>
      }
    >
      <p className="soft">
        Whoever opens it chooses a password and is logged in. It works once, for a week.
      </p>
      <p className="secret">
        <code>{link}</code>
      </p>
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
        <FormButtons onClose={onClose} busy={busy} disabled={!password}>
          Set password
        </FormButtons>
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
