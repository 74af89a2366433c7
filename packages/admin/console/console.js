// The only script of the console: copies a command, says that the next page takes long, and reloads this one every ten seconds
// if the reader wants that.
const REFRESH_MS = 10_000;
const SHOWN_MS = 1_500;
const PATIENCE_MS = 3_000;

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('.copied button');
  if (!button) return;
  await navigator.clipboard.writeText(button.previousElementSibling.textContent);
  button.classList.add('done');
  setTimeout(() => button.classList.remove('done'), SHOWN_MS);
});

// A page stays until there is an answer in its place.
addEventListener('beforeunload', () => {
  const say = () => document.getElementById('waiting')?.append('Still waiting for DynamoDB… ');
  setTimeout(say, PATIENCE_MS);
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
  const timer = setInterval(() => {
    if (!box.checked || document.hidden || isUsed()) return;
    // Only once: a second time would give up the answer that is under way.
    clearInterval(timer);
    location.reload();
  }, REFRESH_MS);
}
