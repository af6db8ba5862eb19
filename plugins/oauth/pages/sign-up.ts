import type { People } from '../people/people';
import { markup } from '../../pages';
import { faultText, nameField } from './sign-in';
import { PageFault } from './texts';
import type { Visit } from './visit';

interface SignUpForm {
  invite: string;
  /** The name that somebody was invited to; undefined where they choose one. */
  invited: string | undefined;
  name?: string;
  fault?: string;
  status?: number;
}

/** The page by which people come to an account: who was invited, or everybody where that is set. */
export async function signUpPage(visit: Visit, people: People, isOpen: boolean): Promise<void> {
  const invite = String(visit.ctx.query['invite'] ?? '');
  showForm(visit, { invite, invited: await invitedName(visit, people, { invite, isOpen }) });
}

/** Makes the account, or sets the password of the one that somebody was invited to. */
export async function signUp(visit: Visit, people: People, isOpen: boolean): Promise<void> {
  const { api, ctx, texts, acting } = visit;
  const form = await visit.form();
  await api.refuseSpent(ctx);
  const invite = form.get('invite') ?? '';
  const password = form.get('password') ?? '';
  const invited = await invitedName(visit, people, { invite, isOpen });
  const name = invited ?? (form.get('name') ?? '').trim();
  try {
    if (invited === undefined) await people.signUp(name, password, acting);
    else await people.acceptInvitation(invite, password, acting);
  } catch (error) {
    if (!(error instanceof PageFault)) throw error;
    // Whether there is somebody of a name is not to be asked for ever.
    if (['taken', 'badInvitation'].includes(error.sentence)) await api.recordFailure(ctx);
    const fault = texts[error.sentence];
    showForm(visit, { invite, invited, name, fault, status: error.status });
    return;
  }
  await visit.signIn(name);
  visit.show(
    texts.signUp,
    markup`<p>${texts.isDone}</p>
      <p><a href="/sign-in">${texts.signIn}</a></p>`,
  );
}

/** @throws PageFault where nobody was invited by this, or everybody would have to be */
async function invitedName(
  { api, ctx }: Visit,
  people: People,
  { invite, isOpen }: { invite: string; isOpen: boolean },
): Promise<string | undefined> {
  if (invite === '') {
    if (isOpen) return undefined;
    throw new PageFault('noInvitation', 403);
  }
  await api.refuseSpent(ctx);
  const found = await people.invitation(invite);
  if (found) return found.name;
  await api.recordFailure(ctx);
  throw new PageFault('badInvitation');
}

function showForm(visit: Visit, { invite, invited, name = '', fault, status }: SignUpForm): void {
  const { texts } = visit;
  const who =
    invited === undefined
      ? nameField(texts, name)
      : markup`<p>${texts.welcome} <strong>${invited}</strong>.</p>
          <input type="hidden" name="invite" value="${invite}" />
          <input
            class="hidden"
            hidden
            name="username"
            value="${invited}"
            autocomplete="username"
          />`;
  const content = markup`${faultText(fault)}
    <form method="post" action="/sign-up">
      ${visit.csrfField()} ${who}
      <label
        >${texts.newPassword}
        <input type="password" name="password" autocomplete="new-password" minlength="12" required
      /></label>
      <button class="main">${texts.signUp}</button>
    </form>`;
  visit.show(texts.signUp, content, status === undefined ? {} : { status });
}
