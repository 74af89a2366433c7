// The only script of the console: copies a command, and reloads the page every ten seconds if the reader wants that.
const REFRESH_MS = 10_000;
const SHOWN_MS = 1_500;

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('.copied button');
  if (!button) return;
  await navigator.clipboard.writeText(button.previousElementSibling.textContent);
  button.classList.add('done');
  setTimeout(() => button.classList.remove('done'), SHOWN_MS);
});

const box = document.getElementById('refresh');
if (box) {
  box.checked = sessionStorage.refresh === 'on';
  box.addEventListener('change', () => {
    sessionStorage.refresh = box.checked ? 'on' : 'off';
  });
  // Not while somebody reads what they opened, marks text or fills in a field.
  const isUsed = () =>
    document.querySelector('details[open], input[type=search]:focus') || String(getSelection()) !== '';
  setInterval(() => box.checked && !document.hidden && !isUsed() && location.reload(), REFRESH_MS);
}
