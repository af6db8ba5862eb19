import { type Html, markup } from '../pages';
import { formOf } from './parts';
import type { PageContext } from './page-context';

/** What a browser needs to remind a person. */
export const PATHS = { script: '/garden.js', worker: '/garden-worker.js' };

/** The place of the page that the script fills. */
export const DEVICE = 'device';

/** A button that sets a reminder on this device, or ends it; without the script nothing is shown. */
export async function deviceSection(context: PageContext): Promise<Html> {
  const { texts } = context;
  const { publicKey } = await context.call('GET /api/account/reminders/key');
  const set = markup`<button>${texts.remind}</button>
    <p class="fault" role="alert" hidden>${texts.noReminder}</p>`;
  return markup`<div id="${DEVICE}" tabindex="-1" data-key="${publicKey}" hidden>
    ${formOf(context, { action: 'remind', subscription: '' }, set)}
    <p class="entry" hidden>${texts.reminds} <button type="button">${texts.stop}</button></p>
  </div>`;
}

/**
 * Shows the button where a browser can be reminded, and sends its subscription with the form. One that is
 * ended here is gone for the push service, which tells the server so.
 */
export const SCRIPT = `const place = document.getElementById('${DEVICE}');
const { serviceWorker } = navigator;
async function begin() {
  const [form, entry] = place.children;
  const [button, fault] = form.querySelectorAll('button, .fault');
  const worker = await serviceWorker.getRegistration('/garden');
  const known = await worker?.pushManager.getSubscription();
  form.hidden = Boolean(known);
  entry.hidden = !known;
  place.hidden = false;
  if (location.hash === '#${DEVICE}') place.focus();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    fault.hidden = true;
    try {
      if ((await Notification.requestPermission()) !== 'granted') throw new Error('refused');
      await serviceWorker.register('${PATHS.worker}', { scope: '/garden' });
      const { pushManager } = await serviceWorker.ready;
      const applicationServerKey = place.dataset.key;
      const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
      form.elements.subscription.value = JSON.stringify(made);
      form.submit();
    } catch {
      fault.hidden = false;
      button.disabled = false;
      button.focus();
    }
  });
  entry.querySelector('button').addEventListener('click', async () => {
    await known.unsubscribe();
    entry.hidden = true;
    form.hidden = false;
    button.focus();
  });
}
if (place && serviceWorker && window.PushManager && window.Notification) begin();
`;

/** Shows what is pushed, and opens the garden when it is tapped. */
export const WORKER = `addEventListener('push', (event) => {
  const { title, navigate, ...options } = event.data.json().notification;
  const shown = { ...options, icon: '/favicon.ico', data: navigate };
  event.waitUntil(registration.showNotification(title, shown));
});
addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(clients.openWindow(event.notification.data));
});
`;
