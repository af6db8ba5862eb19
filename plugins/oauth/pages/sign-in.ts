import type { Visit } from './visit';
import { type Html, markup } from '../../pages';
import { faultSummary, nameField } from './fields';
import { PageFault, type Sentence } from './texts';
import type { People } from '../people/people';

/** Where a person may be sent on to: a page of ours that needs somebody signed in. */
const RETURN = /^\/(?:settings|oauth\/consent\/[\w-]{1,64})$/;

/** The page by which people sign in; whoever is, sees who they are. */
export async function signInPage(visit: Visit, isOpen: boolean): Promise<void> {
  const { ctx, texts } = visit;
  const to = returnOf(String(ctx.query['return'] ?? ''));
  const { accountId } = await visit.session();
  if (accountId !== undefined && to === undefined) {
    visit.redirect('/settings');
    return;
  }
  const again = ctx.query['again'] === undefined ? undefined : markup`<p>${texts.again}</p>`;
  visit.show(texts.signIn, markup`${again}${signInForm(visit, { to, isOpen })}`);
}

/** Signs in who sends a name and its password. */
export async function signIn(visit: Visit, people: People, isOpen: boolean): Promise<void> {
  const { ctx, api, texts } = visit;
  const form = await visit.form();
  await api.refuseSpent(ctx);
  const name = (form.get('name') ?? '').trim();
  const to = returnOf(form.get('return') ?? '');
  try {
    await people.check(name, form.get('password') ?? '', () => api.recordFailure(ctx));
  } catch (error) {
    if (!(error instanceof PageFault)) throw error;
    const content = signInForm(visit, { to, isOpen, fault: error.sentence, name });
    visit.show(texts.signIn, content, { status: error.status });
    return;
  }
  await visit.signIn(name);
  await people.recordSignIn(name, visit.acting);
  visit.redirect(to ?? '/settings');
}

export async function signOut(visit: Visit): Promise<void> {
  await visit.form();
  await visit.signOut();
  visit.redirect('/sign-in');
}

function returnOf(given: string): string | undefined {
  return RETURN.test(given) ? given : undefined;
}

interface SignInForm {
  to: string | undefined;
  isOpen: boolean;
  fault?: Sentence;
  name?: string;
}

function signInForm(visit: Visit, { to, isOpen, fault, name = '' }: SignInForm): Html {
  const { texts } = visit;
  return markup`${faultSummary(texts, fault)}
    <form method="post" action="/sign-in">
      ${visit.csrfField()}
      <input type="hidden" name="return" value="${to ?? ''}" />
      ${nameField(texts, name, fault)}
      <label for="password">${texts.password}</label>
      <input
        id="password"
        type="password"
        name="password"
        autocomplete="current-password"
        required
      />
      <button class="main">${texts.signIn}</button>
    </form>
    ${isOpen && markup`<p>${texts.newAccount} <a href="/sign-up">${texts.signUp}</a></p>`}`;
}
