import { ApiError, gardenNotFound } from '../../../src/core/errors';
import { bindTo, permits } from '../../../src/core/gardens';
import type { Binding, Garden, NamedGarden } from '../../../src/core/identity';
import { type Html, markup } from '../../pages';
import type { StateStore } from '../state/store';
import { PageFault, type Texts } from './texts';

/** The gardens that a person may open, their own first. */
export async function gardensOf(store: StateStore, person: string): Promise<NamedGarden[]> {
  const account = await store.accounts.person(person);
  return (account && (await store.host.gardens()?.list(account))) ?? [];
}

/**
 * A choice of one of the gardens that a person may open; undefined if they have only their own.
 *
 * @param chosen the owner of the one that was chosen before
 */
export function gardenField(
  texts: Texts,
  [own, ...others]: readonly NamedGarden[],
  chosen?: string,
): Html | undefined {
  if (!own || others.length === 0) return undefined;
  const choices = [
    { id: own.id, label: texts.ownGarden },
    ...others.map((each) => ({ id: each.id, label: gardenLabel(each) })),
    { id: '', label: texts.allGardens },
  ];
  const options = choices.map(({ id, label }) => {
    const isChosen = id === chosen && markup`selected`;
    return markup`<option value="${id}" ${isChosen}>${label}</option>`;
  });
  return markup`<label for="garden">${texts.garden}</label>
    <select id="garden" name="garden">
      ${options}
    </select>
    <p>${texts.asYou}</p>`;
}

/** The name of a garden with that of its owner. */
function gardenLabel({ id, name }: NamedGarden): string {
  return name === id ? id : `${name} (${id})`;
}

/** What the settings say of the garden to which a token or an app is bound. */
export function gardenText(
  texts: Texts,
  gardens: readonly NamedGarden[],
  owner: string | undefined,
): string[] {
  if (owner === undefined) return [];
  const garden = gardens.find(({ id }) => id === owner) ?? { id: owner, name: owner };
  const isOwn = owner === gardens[0]?.id;
  return [`${texts.garden}: ${isOwn ? texts.ownGarden : gardenLabel(garden)}`];
}

/** Those of some scopes that a form grants, and that the role of the person in a chosen garden permits. */
export function chosenScopes(
  form: URLSearchParams,
  scopes: readonly string[],
  shared: Garden | undefined,
): string[] {
  const ticked = form.getAll('scope');
  return scopes.filter((scope) => ticked.includes(scope) && permits(shared, scope));
}

/**
 * The garden that a form chooses; undefined for all.
 *
 * @throws PageFault if it is no longer open
 */
export async function chosenGarden(
  { host }: StateStore,
  person: string,
  form: URLSearchParams,
): Promise<{ garden: Binding; shared?: Garden } | undefined> {
  const owner = form.get('garden') ?? '';
  if (owner === '') return undefined;
  try {
    return await bindTo(owner, person, host.gardens());
  } catch (error) {
    const isGone = error instanceof ApiError && error.kind === gardenNotFound;
    throw isGone ? new PageFault('gone') : error;
  }
}
