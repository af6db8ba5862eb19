import type { People } from '../people/people';
import { markup } from '../../pages';
import { faultSummary, nameField, newPasswordField } from './fields';
import { PageFault, type Sentence } from './texts';
import type { Visit } from './visit';

interface SignUpForm {
  invite: string;
  /** The name that somebody was invited to; undefined where they choose one. */
  invited: string | undefined;
  name?: string;
  fault?: Sentence;
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
    const fault = error.sentence;
    showForm(visit, { invite, invited, name, fault, status: error.status });
    return;
  }
  await visit.signIn(name);
  visit.show(
    texts.signUp,
    markup`<p>${texts.isDone}</p>
      <p><a href="/settings">${texts.settings}</a></p>`,
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
      ? nameField(texts, name, fault)
      : markup`<p>${texts.welcome} <strong>${invited}</strong>.</p>
          <input type="hidden" name="invite" value="${invite}" />
          <input
            hidden
            name="username"
            value="${invited}"
            autocomplete="username"
          />`;
  const content = markup`${faultSummary(texts, fault)}
    <form method="post" action="/sign-up">
      ${visit.csrfField()} ${who}
      ${newPasswordField(texts, fault)}
      <button class="main">${texts.signUp}</button>
    </form>`;
  visit.show(texts.signUp, content, status === undefined ? {} : { status });
}
