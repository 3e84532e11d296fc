// SPDX-License-Identifier: Apache-2.0
// Two sounds: approved, and not approved. The reader's own beep means that the card was read, and the page is silent then.

let context;

// Browsers are silent until the first press.
export function wake() {
  context ??= globalThis.AudioContext ? new AudioContext() : undefined;
  if (context?.state === "suspended") context.resume().catch(() => {});
}

function tone(frequency, from, seconds) {
  const oscillator = context.createOscillator();
  const volume = context.createGain();
  oscillator.frequency.value = frequency;
  const start = context.currentTime + from;
  volume.gain.setValueAtTime(0, start);
  volume.gain.linearRampToValueAtTime(0.3, start + 0.01);
  volume.gain.setValueAtTime(0.3, start + seconds - 0.01);
  volume.gain.linearRampToValueAtTime(0, start + seconds);
  oscillator.connect(volume).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + seconds);
}

// EMV's own: 1500 Hz for half a second; 750 Hz for 200 ms, a pause of 200 ms, and 200 ms again.
export function play(approved) {
  if (context?.state !== "running") return;
  if (approved) tone(1500, 0, 0.5);
  else [0, 0.4].forEach((from) => tone(750, from, 0.2));
}
