/** What can be done with one contact beyond deciding about it. */
import { type ReactNode, useState } from "react";
import { ApiError, call } from "@/api/client";
import { useMay } from "@/app/session";
import {
  Button,
  Confirm,
  Dialog,
  Field,
  Input,
  Menu,
  type MenuItem,
  toast,
  toastError,
} from "@/kit";
import { type DetailAnswer, list, text } from "./model";

interface ContactToolsProps {
  detail: DetailAnswer;
  onChanged: () => void;
  /** The contact is no longer there. */
  onGone: () => void;
}

type Asked = "edit" | "suppress" | "erase" | "delete" | null;

export function ContactTools({ detail, onChanged, onGone }: ContactToolsProps) {
  const [asked, setAsked] = useState<Asked>(null);
  const [busy, setBusy] = useState(false);
  const mayCurate = useMay("curate");
  const mayAdminister = useMay("administer");
  const { record } = detail;
  const email = text(record.email);
  const phone = text(record.phone);
  const person = email ? { email } : { phone };

  async function run(work: () => Promise<unknown>, said: string, isGone = false): Promise<void> {
    setBusy(true);
    try {
      await work();
      setAsked(null);
      toast({ kind: "good", text: said });
      if (isGone) onGone();
      onChanged();
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  }

  if (!mayCurate) return null;
  const items: (MenuItem | "line")[] = [
    {
      name: "Verify again",
      icon: "refresh",
      run: () =>
        void run(() => call("POST", `/contacts/${record.id}/validate`), "Verification is queued."),
    },
    { name: "Delete", icon: "trash", danger: true, run: () => setAsked("delete") },
    ...(mayAdminister
      ? ([
          "line",
          { name: "Do not contact", icon: "shield", run: () => setAsked("suppress") },
          {
            name: "Erase this person's data",
            icon: "trash",
            danger: true,
            run: () => setAsked("erase"),
          },
        ] as const)
      : []),
  ];
  const close = () => setAsked(null);
  return (
    <div className="row">
      <Button small icon="edit" onClick={() => setAsked("edit")}>
        Edit
      </Button>
      <Menu small label="More" icon="more" items={items} />
      {asked === "edit" && <Edit detail={detail} busy={busy} run={run} onClose={close} />}
      {asked === "delete" && (
        <Confirm
          title="Delete this contact?"
          action="Delete"
          danger
          busy={busy}
          onClose={close}
          onConfirm={() =>
            void run(
              () => call("DELETE", `/contacts/${record.id}`),
              "The contact is deleted.",
              true,
            )
          }
        >
          <p>It may come back when its page is scanned again. To prevent that, choose Do not contact.</p>
        </Confirm>
      )}
      {asked === "suppress" && (
        <Confirm
          title={`Never contact ${email ?? phone}?`}
          action="Do not contact"
          danger
          busy={busy}
          onClose={close}
          onConfirm={() =>
            void run(
              () =>
                call("POST", "/suppressions", {
                  body: { values: [email ?? phone] },
                }),
              "Deleted. It will not be stored or exported again.",
              true,
            )
          }
        >
          <p>
            The contact is deleted now, from running exports too, and never stored again. Only a hash
            is kept, to recognise it.
          </p>
        </Confirm>
      )}
      {asked === "erase" && (
        <Confirm
          title={`Erase all data of ${email ?? phone}?`}
          action="Erase"
          danger
          busy={busy}
          onClose={close}
          onConfirm={() =>
            void run(
              () => call("POST", "/people/erase", { body: person }),
              "All data about this person is erased.",
              true,
            )
          }
        >
          <p>All data about this person is deleted. This cannot be undone.</p>
        </Confirm>
      )}
    </div>
  );
}

const FIELDS = ["name", "role", "phone"] as const;

interface EditProps {
  detail: DetailAnswer;
  busy: boolean;
  run: (work: () => Promise<unknown>, said: string) => Promise<void>;
  onClose: () => void;
}

function Edit({ detail, busy, run, onClose }: EditProps): ReactNode {
  const { record, etag } = detail;
  const [values, setValues] = useState<Record<string, string>>({
    name: text(record.name) ?? "",
    role: text(record.role) ?? "",
    phone: text(record.phone) ?? "",
    notes: text(record.notes) ?? "",
    tags: list(record.tags).join(", "),
  });
  const set = (name: string) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value });
  function save() {
    const tags = (values.tags ?? "")
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean);
    const body = {
      ...Object.fromEntries(
        [...FIELDS, "notes"].map((name) => [name, values[name]?.trim() || null]),
      ),
      tags,
    };
    void run(async () => {
      try {
        await call("PATCH", `/contacts/${record.id}`, { body, headers: { "If-Match": etag } });
      } catch (error) {
        if (error instanceof ApiError && error.status === 412) onClose();
        throw error;
      }
    }, "Saved.");
  }
  return (
    <Dialog
      title={`Edit ${text(record.email) ?? text(record.phone) ?? "contact"}`}
      onClose={onClose}
      onSubmit={save}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy}>
            Save
          </Button>
        </>
      }
    >
      <div className="stack">
        <Input label="Name" value={values.name} onChange={set("name")} maxLength={200} />
        <Input label="Role" value={values.role} onChange={set("role")} maxLength={200} />
        <Input label="Phone" value={values.phone} onChange={set("phone")} maxLength={50} />
        <Input
          label="Tags"
          hint="Separated by commas."
          value={values.tags}
          onChange={set("tags")}
        />
        <Field label="Notes">
          {(props) => (
            <textarea
              className="input"
              maxLength={5000}
              value={values.notes}
              onChange={set("notes")}
              {...props}
            />
          )}
        </Field>
      </div>
    </Dialog>
  );
}
