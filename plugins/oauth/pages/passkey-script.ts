/** The path of the only script of the pages. */
export const PASSKEY_SCRIPT = '/passkeys.js';

/** Creates or uses a passkey when a button is clicked, and submits its form with the response. */
export const PASSKEY_CODE = `const { PublicKeyCredential: passkeys } = window;
for (const button of document.querySelectorAll('button[data-passkey]')) {
  const { form, nextElementSibling: fault } = button;
  const options = JSON.parse(button.dataset.passkey);
  const { user } = options;
  button.hidden = !passkeys?.parseCreationOptionsFromJSON;
  button.addEventListener('click', async () => {
    const { name, passkey } = form.elements;
    if (user && name) {
      if (!name.reportValidity()) return;
      user.name = user.displayName = name.value;
    }
    button.disabled = true;
    fault.hidden = true;
    try {
      const credential = user
        ? await navigator.credentials.create({
            publicKey: passkeys.parseCreationOptionsFromJSON(options),
          })
        : await navigator.credentials.get({
            publicKey: passkeys.parseRequestOptionsFromJSON(options),
          });
      passkey.value = JSON.stringify(credential);
      form.submit();
    } catch {
      fault.hidden = false;
      button.disabled = false;
    }
  });
}
`;
