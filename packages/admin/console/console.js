// The only script of the console. It copies commands, says when the next page takes long, and, if the reader chooses
// so, reloads the page every ten seconds.
const REFRESH_MS = 10_000;
const COPIED_SHOWN_MS = 1_500;
const PATIENCE_MS = 3_000;

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('.copyable button');
  if (!button) return;
  await navigator.clipboard.writeText(button.previousElementSibling.textContent);
  const said = document.getElementById('said');
  said.textContent = 'Copied';
  button.classList.add('done');
  setTimeout(() => {
    button.classList.remove('done');
    said.textContent = '';
  }, COPIED_SHOWN_MS);
});

// A page stays visible until the next one begins to arrive.
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
  // The page is not reloaded while the reader has details open, has selected text, or is typing an id.
  const isInUse = () =>
    document.querySelector('details[open], input[type=search]:focus') || String(getSelection()) !== '';
  const timer = setInterval(() => {
    if (!box.checked || document.hidden || isInUse()) return;
    // Reload only once: a second reload would cancel the first.
    clearInterval(timer);
    location.reload();
  }, REFRESH_MS);
}
