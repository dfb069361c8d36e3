/** A module that never ends: the event loop of the thread that imports it stands still. */
for (;;);
