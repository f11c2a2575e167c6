/** The people of this tenant: who they are, and what they may do. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import { invitationLink, useSession } from "@/app/session";
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
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
import { useChange } from "./change";

type Person = Schemas["UserOut"];
type Role = Schemas["Role"];

const ROLES: readonly { value: Role; label: string }[] = [
  { value: "viewer", label: texts.people.viewerCanLook },
  { value: "curator", label: texts.people.curatorCanDecideAndExport },
  { value: "admin", label: texts.people.adminCanAlsoManagePeople },
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
      title={common.people}
      about={texts.people.everyoneWorksOnTheSameRecords}
      actions={
        <Button icon="plus" look="primary" onClick={() => setInviting(true)}>
          {texts.people.inviteSomeone}
        </Button>
      }
    >
      {people.error ? (
        <Failure error={people.error} retry={() => void people.refetch()} />
      ) : !people.data ? (
        <Skeleton lines={4} />
      ) : people.data.items.length === 0 ? (
        <Empty icon="users" title={texts.people.noAccountsYet}>
          {texts.people.untilTheFirstAccountIsCreated}
        </Empty>
      ) : (
        <Table
          label={common.people}
          rows={people.data.items}
          keyOf={(person) => person.id}
          columns={[
            {
              name: texts.people.email,
              show: (person) => <span className="foreign">{person.email}</span>,
            },
            {
              name: common.name,
              minor: true,
              show: (person) => <span className="foreign">{person.name ?? ""}</span>,
            },
            {
              name: common.role,
              show: (person) => (
                <Badge tone={person.role === "admin" ? "accent" : "quiet"}>{person.role}</Badge>
              ),
            },
            {
              name: common.state,
              show: (person) =>
                person.disabled_at ? (
                  <Badge tone="bad">{texts.people.deactivated}</Badge>
                ) : person.is_invited ? (
                  <Badge tone="warn">{texts.people.invited}</Badge>
                ) : (
                  <Badge tone="good">{texts.people.active}</Badge>
                ),
            },
            { name: common.since, minor: true, show: (person) => <Time at={person.created_at} /> },
            {
              name: common.actions,
              show: (person) => (
                <Menu
                  label={texts.people.actionsFor(person.email)}
                  shown=""
                  icon="more"
                  look="quiet"
                  small
                  align="right"
                  items={[
                    ...ROLES.filter(({ value }) => value !== person.role).map(({ value }) => ({
                      name: texts.people.changeRoleTo(value),
                      run: () =>
                        patch(person, { role: value }, texts.people.isNow(person.email, value)),
                    })),
                    {
                      name: texts.people.newInvitationLink,
                      icon: "copy" as const,
                      run: () => void invite(person),
                    },
                    {
                      name: texts.people.setANewPassword,
                      icon: "key" as const,
                      run: () => setRenewing(person),
                    },
                    {
                      name: texts.people.logOutEverywhere,
                      run: () =>
                        void change(
                          () =>
                            write("DELETE", "/users/{user_id}/sessions", {
                              path: { user_id: person.id },
                            }),
                          texts.people.isLoggedOutEverywhere(person.email),
                        ),
                    },
                    {
                      name: person.disabled_at ? texts.people.reactivate : texts.people.deactivate,
                      icon: "logout" as const,
                      danger: !person.disabled_at,
                      run: () =>
                        patch(
                          person,
                          { disabled: !person.disabled_at },
                          person.disabled_at
                            ? texts.people.isActiveAgain(person.email)
                            : texts.people.isDeactivated(person.email),
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
              texts.people.accountIsReady,
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
            patch(renewing, { password }, texts.people.passwordIsChanged);
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
      title={texts.people.inviteSomeone}
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
          {isFirst ? texts.people.createAccount : texts.people.createInvitationLink}
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label={texts.people.email}
          type="email"
          autoComplete="off"
          error={wrong.email}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Input
          label={common.name}
          autoComplete="off"
          error={wrong.name}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {isFirst ? (
          <>
            <p className="small soft">{texts.people.firstAccountIsAnAdministrator}</p>
            <Input
              label={texts.people.password}
              type="password"
              autoComplete="new-password"
              error={wrong.password}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          </>
        ) : (
          <Select
            label={common.role}
            hint={texts.people.theyChooseTheirOwnPassword}
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
      .then(() => toast({ kind: "good", text: texts.people.copied }))
      .catch(() => toast({ text: texts.people.selectTheLinkAndCopy }));
  return (
    <Dialog
      title={texts.people.sendThisLink}
      onClose={onClose}
      actions={
        <Button look="primary" icon="copy" onClick={() => void copy()}>
          {texts.people.copy}
        </Button>
      }
    >
      <p className="soft">{texts.people.whoeverOpensItChoosesAPassword}</p>
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
      title={texts.people.newPasswordFor(person.email)}
      onClose={onClose}
      onSubmit={() => password && onSave(password)}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!password}>
          {texts.people.setPassword}
        </FormButtons>
      }
    >
      <Input
        label={texts.people.password}
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </Dialog>
  );
}
